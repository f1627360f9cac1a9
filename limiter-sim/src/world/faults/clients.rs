//! Client processes that end.

use super::super::process::Process;
use super::super::simulation::{Simulation, narrow};
use super::super::{Action, Fault, World};

impl Simulation {
    pub(super) fn offer_client_faults(
        &self,
        world: &World,
        numbers: &[usize],
        to: &mut Vec<Action>,
    ) {
        let crash = self.may(world, Fault::ClientCrash);
        let reboot = self.may(world, Fault::Restart) && self.scenario.subject.keeps_state();
        for number in numbers {
            let process = narrow(*number);
            let position = world.processes[*number].position;
            // Who has sent nothing yet, or has been told all, leaves nothing behind.
            if crash && self.automaton.is_busy(position) {
                to.push(Action::Crash { process });
            }
            if reboot && !self.automaton.is_busy(position) && self.automaton.has_begun(position) {
                to.push(Action::Reboot { process });
            }
        }
    }

    /// A process begins anew. Its clients go on with their next attempts.
    pub(super) fn reboot(&mut self, world: &mut World, number: usize) {
        self.bite(Fault::Restart);
        let position = self.automaton.reborn(world.processes[number].position);
        let clients = self.automaton.clients();
        let old = world.process(number);
        let mut reborn = Process::new(position, clients);
        reborn.offset_ms = old.offset_ms;
        reborn.inherit(old);
        *old = reborn;
        world.refresh(&self.automaton, number);
    }
}
