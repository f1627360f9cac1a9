//! Orders that need not be explored.
//!
//! Where a step commutes with everything that can happen until it is taken, and nobody else can tell
//! whether it was taken, exploring it first is enough: every history has an equivalent one in which it
//! comes first (a persistent set of one step: Godefroid, LNCS 1032, 1996). Every step brings its
//! process nearer to its end, so none is put off for ever.

use super::process::Link;
use super::simulation::{Simulation, narrow};
use super::{Action, Fault, Way, World};
use crate::process::{Input, Lane};

impl Simulation {
    /// The step by which a process is told that its connection is broken, if there is one that can
    /// be taken before all others.
    ///
    /// It touches no server and, if the attempt has charged nothing, no ledger that time could
    /// change; a further break leaves it broken; request and reply cannot be lost on the way. What
    /// would tell the difference must not be possible any more: that time passes, or that the
    /// process crashes before it is told.
    pub(super) fn told_of_break(&mut self, world: &World, numbers: &[usize]) -> Option<Action> {
        if world.faults.total() == 0 || !self.is_unwatched(world) {
            return None;
        }
        let number = numbers
            .iter()
            .copied()
            .find(|number| self.is_to_be_told(world, *number))?;
        Some(Action::Go {
            process: narrow(number),
            lane: 0,
            way: Way::Through,
        })
    }

    /// Whether the reference clock can still move.
    pub(crate) fn can_time_pass(&self, world: &World) -> bool {
        #[cfg(test)]
        if self.scenario.unreduced {
            return true;
        }
        world.time_steps < self.scenario.time_steps
    }

    /// Whether nobody but a process itself can tell when it took a step of its own.
    fn is_unwatched(&self, world: &World) -> bool {
        let faults = &self.scenario.faults;
        !self.automaton.keeps_state()
            && !self.scenario.subject.uses().clock
            && !self.can_time_pass(world)
            && !faults.allow(Fault::ClientCrash, &world.faults)
    }

    fn is_to_be_told(&mut self, world: &World, number: usize) -> bool {
        let process = &world.processes[number];
        if !process.links.contains(&Link::Broken) || !process.held.is_empty() {
            return false;
        }
        if process
            .attempted
            .iter()
            .any(|attempted| *attempted != Default::default())
        {
            return false;
        }
        let lanes = self.automaton.lanes_at(process.position);
        let pending = match &lanes[..] {
            [Lane::Send(pending)] => Some(pending.clone()),
            [Lane::Start { client, attempt }] => {
                let (client, attempt) = (*client, *attempt);
                let own = process.own_time(world.now);
                let start = Input::Start { client, attempt };
                let position = self.automaton.advance(process.position, start, own);
                self.sent_at_once(position)
            }
            _ => None,
        };
        pending.is_some_and(|pending| process.links.get(pending.connection) == Some(&Link::Broken))
    }
}
