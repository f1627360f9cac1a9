//! The rules of the world: which steps there are, and what each of them does.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::aftermath::Aftermath;
use super::ledger::Ledger;
use super::log::Log;
use super::memo::Memo;
use super::process::Process;
use super::slot::{Slot, signed};
use super::{Action, EPOCH_MS, Fault, FaultCounts, Replica, Way, World};
use crate::fingerprint::{Digest, Keyed};
use crate::judge::Promise;
use crate::process::{Automaton, Input, Lane, Outcome};
use crate::scenario::Scenario;
use crate::server::{Node, Reply, Request};

/// One exploration's client code and rules.
pub(crate) struct Simulation {
    pub(crate) scenario: Scenario,
    /// What the subject promises.
    pub(super) promise: Promise,
    pub(crate) automaton: Automaton,
    /// What the last step did, for those who tell it.
    pub(crate) happened: Rc<Happened>,
    /// Why nothing that is found can be relied on.
    pub(crate) trouble: Option<String>,
    /// What the server said that whoever explores a script should know.
    pub(crate) notes: BTreeSet<String>,
    /// Faults that have had a consequence in some history.
    pub(crate) bites: FaultCounts,
    pub(super) memo: Memo,
    nothing: Rc<Happened>,
    pub(super) aftermaths: HashMap<Digest, Aftermath, Keyed>,
}

/// No clock shows more than this, and none is further from another: what a token names may be
/// anything, and time must not overflow.
pub(super) const FARTHEST_MS: u64 = 1 << 52;

/// What one step did.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Happened {
    /// The requests that were executed, with the replies that the server gave; `None` where the
    /// request did not reach it.
    pub(crate) exchanges: SmallVec<[(Arc<Request>, Option<Reply>); 1]>,
    pub(crate) outcomes: SmallVec<[(usize, Outcome); 1]>,
}

/// Steps that one acquisition can take, on average of a history: client code that takes more is taken to
/// go on for ever.
const MOST_STEPS_A_CALL: usize = 1_000;

impl Simulation {
    /// Whether a history of so many steps may go on; if not, that is trouble.
    pub(crate) fn may_go_on(&mut self, steps: usize) -> bool {
        let parameters = &self.scenario.parameters;
        let calls = parameters.workers * parameters.attempts as usize;
        let may = steps < MOST_STEPS_A_CALL * calls;
        if !may {
            self.trouble = Some(format!(
                "{} does not end: {steps} steps for {calls} acquisitions, where {MOST_STEPS_A_CALL} each \
                 are the most",
                self.scenario.subject.name()
            ));
        }
        may
    }

    pub(crate) fn new(scenario: Scenario) -> Self {
        let automaton = Automaton::new(Arc::clone(&scenario.subject), scenario.parameters.clone());
        let promise = scenario.subject.promise(&scenario.parameters);
        Self {
            scenario,
            promise,
            automaton,
            happened: Rc::default(),
            trouble: None,
            notes: BTreeSet::new(),
            bites: FaultCounts::default(),
            memo: Memo::default(),
            nothing: Rc::default(),
            aftermaths: HashMap::with_hasher(Keyed),
        }
    }

    /// The state in which every history begins.
    pub(crate) fn initial(&mut self) -> World {
        let clients = self.automaton.clients();
        let workers = self.scenario.parameters.workers.div_ceil(clients);
        let slot = Slot::new(self.fresh_node(), 0);
        let replica = self.scenario.subject.uses().replica.then(|| {
            Arc::new(Replica {
                slot: slot.as_replica(),
                stalled: false,
                backlog: Vec::new(),
            })
        });
        let mut world = World {
            now: EPOCH_MS,
            slots: SmallVec::from_iter([slot]),
            primary: 0,
            replica,
            log: Some(Log::default()),
            slow_from: None,
            processes: Vec::with_capacity(workers),
            ledger: Ledger::default(),
            time_steps: 0,
            faults: FaultCounts::default(),
            mover: None,
            open: 0,
            processes_digest: Digest::default(),
        };
        for number in 0..workers {
            let position = self.automaton.root(number);
            world
                .processes
                .push(Rc::new(Process::new(position, clients)));
            world.refresh(&self.automaton, number);
        }
        self.forget_log(&mut world);
        world
    }

    fn fresh_node(&self) -> Node {
        let config = self.scenario.server.clone();
        let mut node = Node::new(config).expect("the scenario's settings were checked");
        node.set_time(signed(EPOCH_MS));
        node
    }

    /// Everything that can happen next, in the fixed order of choice. Of processes in equal states
    /// only the first is offered: the others would lead to the same states with names exchanged.
    pub(crate) fn actions(&mut self, world: &World, actions: &mut Vec<Action>) {
        actions.clear();
        let mover = world.mover.map(usize::from);
        let others = (0..world.processes.len()).filter(|number| Some(*number) != mover);
        let numbers: SmallVec<[usize; 64]> = mover
            .into_iter()
            .chain(others.filter(|number| !repeats(world, *number)))
            .filter(|number| !world.processes[*number].crashed)
            .collect();
        if let Some(action) = self.told_of_break(world, &numbers) {
            actions.push(action);
            return;
        }
        for number in &numbers {
            self.offer_lanes(world, *number, Way::Through, actions);
        }
        self.offer_relief(world, &numbers, actions);
        if world.time_steps < self.scenario.time_steps {
            let instants = self.instants(world);
            actions.extend(instants.into_iter().map(|to| Action::Advance { to }));
        }
        if world.faults.total() < self.scenario.faults.total {
            self.offer_faults(world, &numbers, actions);
        }
    }

    /// What a process can do next, with what happens on the way.
    pub(super) fn offer_lanes(&self, world: &World, number: usize, way: Way, to: &mut Vec<Action>) {
        let process = &world.processes[number];
        let waits = |lane: &Lane| match lane {
            Lane::Send(pending) => process
                .held
                .iter()
                .any(|held| held.connection == pending.connection),
            Lane::Start { .. } => false,
        };
        let lanes = self.automaton.lanes_at(process.position).iter().enumerate();
        to.extend(
            lanes
                .filter(|(_, lane)| !waits(lane))
                .map(|(lane, _)| Action::Go {
                    process: narrow(number),
                    lane: narrow(lane),
                    way,
                }),
        );
        if way == Way::Through && !process.held.is_empty() {
            to.push(Action::Arrive {
                process: narrow(number),
            });
        }
    }

    /// Whether `action` is possible, whoever it is offered to, and however many faults there were.
    pub(crate) fn allows(&self, world: &World, action: Action) -> bool {
        let alive = |process: u16| {
            let process = world.processes.get(usize::from(process));
            process.filter(|process| !process.crashed)
        };
        match action {
            Action::Go { process, lane, .. } => alive(process).is_some_and(|process| {
                let lanes = self.automaton.lanes_at(process.position);
                match lanes.get(usize::from(lane)) {
                    Some(Lane::Send(pending)) => !process
                        .held
                        .iter()
                        .any(|held| held.connection == pending.connection),
                    Some(Lane::Start { .. }) => true,
                    None => false,
                }
            }),
            Action::Arrive { process } => {
                alive(process).is_some_and(|process| !process.held.is_empty())
            }
            Action::Advance { to } => to > world.now && to <= FARTHEST_MS,
            other => self.allows_fault(world, other),
        }
    }

    /// The instants to which time can move: each deadline that somebody could notice, and one
    /// millisecond past it. Between them nothing can be told apart.
    fn instants(&self, world: &World) -> Vec<u64> {
        let cost = self.scenario.parameters.cost;
        let untold = world.ledger.untold().iter().copied();
        let clock = self.promise.is_cut_by_the_clock().then_some(world.now);
        let mut deadlines: Vec<u64> = world
            .ledger
            .admitted_at()
            .chain(untold)
            .chain(clock)
            .flat_map(|at| self.promise.last_instants(at, cost))
            .collect();
        for slot in &world.slots {
            let own = slot
                .node()
                .keyspace()
                .filter_map(|entry| entry.deadline_ms());
            deadlines.extend(own.map(|deadline| slot.reference_time(deadline)));
        }
        let mut instants: Vec<u64> = deadlines
            .into_iter()
            .flat_map(|deadline| [deadline, deadline + 1])
            .collect();
        instants.extend(world.slots.iter().filter_map(Slot::alone_from));
        let alive = world.processes.iter().filter(|process| !process.crashed);
        for process in alive {
            let timers = self.automaton.timers_at(process.position).iter();
            instants.extend(timers.map(|(_, due)| due.saturating_add_signed(-process.offset_ms)));
        }
        instants.retain(|instant| *instant > world.now);
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    /// Takes one step.
    pub(crate) fn step(&mut self, world: &mut World, action: Action) {
        #[cfg(test)]
        let action = self
            .scenario
            .mutant
            .map_or(action, |mutant| mutant(world, action));
        self.happened = Rc::clone(&self.nothing);
        if let Some(fault) = action.fault() {
            world.faults.count(fault);
        }
        match action {
            Action::Go { process, lane, way } => {
                world.mover = Some(process);
                let (process, lane) = (usize::from(process), usize::from(lane));
                match way {
                    Way::Through => self.go_undisturbed(world, process, lane),
                    _ => self.go(world, process, lane, way),
                }
            }
            Action::Arrive { process } => {
                world.mover = Some(process);
                self.deliver_held(world, usize::from(process));
            }
            Action::Advance { to } => {
                world.time_steps += 1;
                self.advance(world, to);
            }
            other => self.apply_fault(world, other),
        }
        if action.fault().is_some() {
            self.forget_log(world);
        }
    }

    /// Moves time, with all clocks, and fires what is due.
    pub(super) fn advance(&mut self, world: &mut World, to: u64) {
        world.now = to;
        for slot in &mut world.slots {
            slot.set_time(to);
        }
        self.carry(world, world.primary);
        if let Some(replica) = &mut world.replica {
            Arc::make_mut(replica).slot.set_time(to);
        }
        for number in 0..world.processes.len() {
            self.fire_timers(world, number);
        }
        world.refresh_all(&self.automaton);
    }

    pub(super) fn fire_timers(&mut self, world: &mut World, number: usize) {
        loop {
            let process = &world.processes[number];
            if process.crashed {
                return;
            }
            let (position, own) = (process.position, process.own_time(world.now));
            let due = |(_, due): &&(_, u64)| *due <= own;
            let Some((timer, _)) = self.automaton.timers_at(position).iter().find(due) else {
                return;
            };
            let fired = Input::Fired { timer: *timer };
            let position = self.automaton.advance(position, fired, own);
            self.come_to(world, number, position);
        }
    }

    /// Drops the log where no fault that may still happen needs it: states that differ only in it
    /// are one state then.
    fn forget_log(&self, world: &mut World) {
        let needed = self.scenario.keep_log
            || [
                Fault::Restart,
                Fault::PowerLoss,
                Fault::Failover,
                Fault::SplitBrain,
            ]
            .into_iter()
            .any(|fault| self.scenario.faults.allow(fault, &world.faults));
        if !needed {
            world.log = None;
            world.slow_from = None;
        }
    }

    pub(super) fn bite(&mut self, fault: Fault) {
        if self.bites.of(fault) == 0 {
            self.bites.count(fault);
        }
    }
}

fn repeats(world: &World, number: usize) -> bool {
    let digest = world.processes[number].digest;
    let mover = world.mover.map(usize::from);
    world.processes[..number]
        .iter()
        .any(|other| other.digest == digest)
        || mover.is_some_and(|mover| world.processes[mover].digest == digest)
}

pub(super) fn narrow<N: TryFrom<usize>>(number: usize) -> N {
    N::try_from(number).unwrap_or_else(|_| panic!("{number} is more than a step can name"))
}
