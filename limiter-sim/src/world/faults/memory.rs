//! Servers that run out of memory, and what they forget then.

use super::super::simulation::{Simulation, narrow};
use super::super::{Action, Fault, World};
use crate::server::Bytes;

impl Simulation {
    pub(super) fn offer_memory_faults(&self, world: &World, to: &mut Vec<Action>) {
        let nodes = 0..world.slots.len();
        if self.may(world, Fault::Evict) {
            for node in nodes.clone() {
                let keys = self
                    .evictable(world, narrow(node))
                    .map_or(0, |keys| keys.len());
                to.extend((0..keys).map(|key| Action::Evict {
                    node: narrow(node),
                    key: narrow(key),
                }));
            }
        }
        if self.may(world, Fault::OutOfMemory) {
            let open = nodes
                .clone()
                .filter(|node| !self.is_full(world, narrow(*node)));
            to.extend(open.map(|node| Action::Full { node: narrow(node) }));
        }
        if self.may(world, Fault::ScriptFlush) {
            let cached = nodes.filter(|node| world.slots[*node].node().has_scripts());
            to.extend(cached.map(|node| Action::FlushScripts { node: narrow(node) }));
        }
    }

    pub(super) fn offer_freed_memory(&self, world: &World, to: &mut Vec<Action>) {
        let nodes = (0..world.slots.len()).map(narrow);
        let full = nodes.filter(|node| self.is_full(world, *node));
        to.extend(full.map(|node| Action::Freed { node }));
    }

    /// The keys that a node may evict, in byte order. As a fault, any key may go that has a
    /// deadline or not: which one is up to the server's policy, and to what else it holds.
    pub(super) fn evictable(&self, world: &World, node: u16) -> Option<Vec<Bytes>> {
        let slot = world.slots.get(usize::from(node))?;
        Some(
            slot.node()
                .keyspace()
                .map(|entry| entry.key().clone())
                .collect(),
        )
    }

    pub(super) fn is_full(&self, world: &World, node: u16) -> bool {
        let slot = world.slots.get(usize::from(node));
        let usual = self.scenario.server.max_memory;
        slot.is_some_and(|slot| slot.node().config().max_memory != usual)
    }

    pub(super) fn evict(&mut self, world: &mut World, node: u16, key: u16) {
        self.bite(Fault::Evict);
        let keys = self.evictable(world, node).unwrap_or_default();
        let node = usize::from(node);
        world.slots[node].change(|server| (server.evict(&keys[usize::from(key)]), true));
        self.carry(world, node);
        world.refresh_all(&self.automaton);
    }

    pub(super) fn fill_memory(&mut self, world: &mut World, node: usize) {
        world.slots[node].change(|server| (server.fill_memory(), true));
    }

    pub(in super::super) fn free_memory(&mut self, world: &mut World, node: usize) {
        let usual = self.scenario.server.clone();
        world.slots[node].change(|server| {
            server
                .set_config(usual)
                .expect("the scenario's settings were checked");
            ((), true)
        });
    }

    pub(super) fn flush_scripts(&mut self, world: &mut World, node: usize) {
        world.slots[node].change(|server| (server.flush_scripts(), true));
    }
}
