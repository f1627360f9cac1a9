//! What is left when a history is over: whether the budget recovers, and whether a counter denies
//! for ever.

use std::rc::Rc;

use super::process::{Link, Process};
use super::simulation::{Simulation, narrow};
use super::{Fault, Way, World};
use crate::fingerprint::Digest;
use crate::process::{Input, Lane, Outcome};
use crate::search::Figures;

/// What fresh callers meet after the end of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aftermath {
    /// Stored state denies, and will for ever.
    pub(crate) immortal: bool,
    /// When all faults are over and the window has passed, a fresh caller is admitted.
    pub(crate) recovered: bool,
}

/// Windows that pass before a counter is called immortal.
const WINDOWS: u64 = 10;
/// The most fresh calls that are made to use a budget up.
const MOST_CALLS: u64 = 256;
/// A fresh call that takes more steps than this never returns.
const MOST_STEPS: usize = 10_000;

impl Simulation {
    /// How bad the history is that ends in `world`.
    pub(crate) fn figures(&mut self, world: &World) -> Figures {
        let aftermath = self.aftermath(world);
        let clock_was_set = world.faults.of(Fault::ClockJump) > 0;
        let cost = self.scenario.parameters.cost;
        let judged = world.ledger.judge(&self.promise, cost, clock_was_set);
        Figures::of(judged, world.ledger.waste(), aftermath)
    }

    /// Judges what `world`, at the end of a history, leaves behind.
    fn aftermath(&mut self, world: &World) -> Aftermath {
        // Where nothing is ever admitted, by the promise itself, or somebody has still to do the rest of
        // what it does, nothing is left behind yet.
        if self.scenario.parameters.cost > self.promise.most() || !self.is_at_rest(world) {
            return Aftermath {
                immortal: false,
                recovered: true,
            };
        }
        let state = remains(world);
        if let Some(aftermath) = self.aftermaths.get(&state) {
            return *aftermath;
        }
        let aftermath = Aftermath {
            immortal: self.is_immortal(world),
            recovered: self.recovers(world),
        };
        self.aftermaths.insert(state, aftermath);
        aftermath
    }

    /// Whether no attempt is under way.
    fn is_at_rest(&self, world: &World) -> bool {
        let is_idle = |process: &Process| {
            let lanes = self.automaton.lanes_at(process.position);
            let timers = self.automaton.timers_at(process.position);
            let begins = |lane: &Lane| matches!(lane, Lane::Start { .. });
            process.held.is_empty() && timers.is_empty() && lanes.iter().all(begins)
        };
        world.is_complete()
            || world
                .processes
                .iter()
                .all(|process| process.crashed || is_idle(process))
    }

    fn recovers(&mut self, world: &World) -> bool {
        let mut world = self.faults_over(world);
        let offsets = world
            .slots
            .iter()
            .map(|slot| slot.offset_ms().unsigned_abs());
        let skews = world
            .processes
            .iter()
            .map(|process| process.offset_ms.unsigned_abs());
        let largest = offsets.chain(skews).max().unwrap_or(0);
        let to = world.now + self.scenario.parameters.window_ms + largest + 1;
        self.advance(&mut world, to);
        self.fresh_call(&mut world) == Some(Outcome::Admitted)
    }

    fn is_immortal(&mut self, world: &World) -> bool {
        let mut world = self.faults_over(world);
        let parameters = &self.scenario.parameters;
        let calls = (self.promise.most() / parameters.cost + 1).min(MOST_CALLS);
        let window = parameters.window_ms;
        for _ in 0..calls {
            // One denial shows that the budget is used up; further calls would show no more.
            if self.fresh_call(&mut world) != Some(Outcome::Admitted) {
                break;
            }
        }
        let deadlines = world.slots.iter().flat_map(|slot| {
            let own = slot
                .node()
                .keyspace()
                .filter_map(|entry| entry.deadline_ms());
            own.map(|deadline| slot.reference_time(deadline))
                .collect::<Vec<_>>()
        });
        let last = deadlines.max().unwrap_or(0).max(world.now);
        self.advance(&mut world, last + WINDOWS * window + 1);
        self.fresh_call(&mut world) == Some(Outcome::Denied)
    }

    /// The same world with memory, one primary, a replica that has all, and connections whose owners
    /// have noticed that they broke.
    fn faults_over(&mut self, world: &World) -> World {
        let mut world = world.clone();
        if world.slots.len() > 1 {
            self.heal(&mut world);
        }
        self.catch_up(&mut world);
        self.free_memory(&mut world, 0);
        for number in 0..world.processes.len() {
            let process = world.process(number);
            let broken = process
                .links
                .iter_mut()
                .filter(|link| **link == Link::Broken);
            broken.for_each(|link| *link = Link::Fresh);
            world.refresh(&self.automaton, number);
        }
        world
    }

    /// One call that nothing disturbs: by a new process, or, where processes keep state, by one that
    /// is there. `None` where it never returns.
    fn fresh_call(&mut self, world: &mut World) -> Option<Outcome> {
        let number = match world.processes.iter().position(|process| !process.crashed) {
            Some(number) if self.scenario.subject.keeps_state() => number,
            _ => {
                // As if it were a later attempt of the first worker: what tells attempts apart, such
                // as the id of a request, tells it apart from all that there were.
                let workers = self
                    .scenario
                    .parameters
                    .workers
                    .div_ceil(self.automaton.clients());
                let fresh = world.processes.len() - workers;
                let position = self.automaton.fresh(narrow(fresh));
                let process = Process::new(position, self.automaton.clients());
                world.processes.push(Rc::new(process));
                world.processes.len() - 1
            }
        };
        let position = world.processes[number].position;
        let start = Input::Start {
            client: 0,
            attempt: self.automaton.begun(position, 0),
        };
        self.happened = Rc::default();
        let own = world.processes[number].own_time(world.now);
        let position = self.automaton.advance(position, start, own);
        self.come_to(world, number, position);
        for _ in 0..MOST_STEPS {
            let outcomes = self.happened.outcomes.iter();
            if let Some((_, outcome)) = outcomes.copied().find(|(client, _)| *client == 0) {
                return Some(outcome);
            }
            let lanes = self.automaton.lanes_at(world.processes[number].position);
            let lane = lanes
                .iter()
                .position(|lane| matches!(lane, Lane::Send(_)))?;
            self.go(world, number, lane, Way::Through);
        }
        None
    }
}

/// All that fresh callers can meet.
fn remains(world: &World) -> Digest {
    let mut slots = Digest::default();
    for slot in &world.slots {
        slots = Digest::of(&(slots.0, slot.digest().0));
    }
    let replica = world
        .replica
        .as_ref()
        .map(|replica| (replica.slot.digest().0, &replica.backlog));
    let processes: Vec<u128> = world
        .processes
        .iter()
        .map(|process| process.digest.0)
        .collect();
    Digest::of(&(world.now, slots.0, world.primary, replica, processes))
}
