//! Clocks that are set.

use super::super::simulation::{Simulation, narrow};
use super::super::{Action, Fault, World};

impl Simulation {
    pub(super) fn offer_clock_faults(
        &self,
        world: &World,
        numbers: &[usize],
        to: &mut Vec<Action>,
    ) {
        if !self.may(world, Fault::ClockJump) {
            return;
        }
        let window = i64::try_from(self.scenario.parameters.window_ms).expect("at most 366 days");
        let uses = self.scenario.subject.uses();
        for (node, slot) in world.slots.iter().enumerate().filter(|_| uses.server) {
            let node = narrow(node);
            let own = slot.own_time(world.now);
            let mut past: Vec<i64> = slot
                .node()
                .keyspace()
                .filter_map(|entry| entry.deadline_ms())
                .map(|deadline| deadline + 1 - own)
                .collect();
            past.sort_unstable();
            past.dedup();
            let back = (!past.is_empty()).then_some(-window);
            let jumps = past.into_iter().chain(back);
            to.extend(jumps.map(|by_ms| Action::NodeClock { node, by_ms }));
        }
        if uses.clock {
            for process in numbers.iter().map(|number| narrow(*number)) {
                let jumps = [window + 1, -window];
                to.extend(jumps.map(|by_ms| Action::ProcessClock { process, by_ms }));
            }
        }
    }

    pub(super) fn jump_node_clock(&mut self, world: &mut World, node: usize, by_ms: i64) {
        self.bite(Fault::ClockJump);
        world.slots[node].jump(by_ms, world.now);
        self.carry(world, node);
        world.refresh_all(&self.automaton);
    }

    pub(super) fn jump_process_clock(&mut self, world: &mut World, number: usize, by_ms: i64) {
        self.bite(Fault::ClockJump);
        world.process(number).offset_ms += by_ms;
        self.fire_timers(world, number);
        world.refresh(&self.automaton, number);
    }
}
