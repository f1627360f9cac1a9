//! Replicas that lag, and replicas that take over.

use std::sync::Arc;

use super::super::process::Link;
use super::super::simulation::{Simulation, narrow};
use super::super::slot::Slot;
use super::super::{Action, Fault, World};
use crate::process::Break;

impl Simulation {
    pub(super) fn offer_replication_faults(&self, world: &World, to: &mut Vec<Action>) {
        let alone = world.slots.len() == 1;
        if let Some(log) = world.log.as_ref().filter(|_| alone) {
            // Replication is asynchronous: a replica can have received any prefix, but for what it
            // said that it has.
            let received = || (acknowledged(world)..=log.len()).map(narrow);
            if self.may(world, Fault::Failover) && log.len() > 0 {
                to.extend(received().map(|received| Action::Failover { received }));
            }
            if self.may(world, Fault::SplitBrain) && log.len() > 0 {
                to.extend(received().map(|received| Action::SplitBrain { received }));
            }
        }
        let steady = world
            .replica
            .as_ref()
            .is_some_and(|replica| !replica.stalled);
        if steady && self.may(world, Fault::StaleRead) {
            to.push(Action::Stall);
        }
    }

    pub(super) fn offer_replication_relief(&self, world: &World, to: &mut Vec<Action>) {
        if world.slots.len() > 1 {
            to.push(Action::Heal);
        }
        if world
            .replica
            .as_ref()
            .is_some_and(|replica| replica.stalled)
        {
            to.push(Action::CatchUp);
        }
    }

    /// A replica takes the primary's place; the primary is gone, and so is what it alone had.
    pub(super) fn fail_over(&mut self, world: &mut World, received: u32) {
        self.bite(Fault::Failover);
        let primary = world.primary;
        world.slots[primary] = self.promoted(world, received);
        self.carry(world, primary);
        self.synchronise_replica(world);
        self.break_links(world, primary);
    }

    /// A replica is promoted, and new connections reach it. Who is connected to the old primary
    /// stays there.
    pub(super) fn split_brain(&mut self, world: &mut World, received: u32) {
        let promoted = self.promoted(world, received);
        let primary = world.primary;
        world.slots[primary].abandon(world.now);
        world.slots.push(promoted);
        world.primary = world.slots.len() - 1;
        self.carry(world, world.primary);
        self.synchronise_replica(world);
    }

    /// The old primary learns: what it did since is lost, and its connections break.
    pub(in super::super) fn heal(&mut self, world: &mut World) {
        self.break_links(world, 0);
        world.slots.remove(0);
        world.primary = 0;
        for number in 0..world.processes.len() {
            if world.processes[number].links.contains(&Link::Open(1)) {
                for link in &mut world.process(number).links {
                    if *link == Link::Open(1) {
                        *link = Link::Open(0);
                    }
                }
                world.refresh(&self.automaton, number);
            }
        }
    }

    fn promoted(&mut self, world: &mut World, received: u32) -> Slot {
        let log = world
            .log
            .as_ref()
            .expect("a promotion is offered where there is a log");
        let log = log.first(received as usize);
        let slot = self.revived(&log, world.now, 0, false);
        world.log = Some(log);
        world.slow_from = None;
        slot
    }

    pub(super) fn stall_replica(&mut self, world: &mut World) {
        if let Some(replica) = &mut world.replica {
            Arc::make_mut(replica).stalled = true;
        }
    }

    pub(in super::super) fn catch_up(&mut self, world: &mut World) {
        if let Some(replica) = &mut world.replica {
            let replica = Arc::make_mut(replica);
            replica.stalled = false;
            let backlog = std::mem::take(&mut replica.backlog);
            replica.receive(&backlog);
        }
    }

    /// The replica takes over all that the primary has, as after a full synchronisation.
    pub(super) fn synchronise_replica(&mut self, world: &mut World) {
        let slot = world.slots[world.primary].as_replica();
        if let Some(replica) = &mut world.replica {
            let replica = Arc::make_mut(replica);
            replica.slot = slot;
            replica.backlog.clear();
        }
    }

    /// Every connection to `node` breaks. Its owner learns at its next command, or where it waits
    /// for a reply.
    pub(super) fn break_links(&mut self, world: &mut World, node: usize) {
        for number in 0..world.processes.len() {
            if !world.processes[number].links.contains(&Link::Open(node)) {
                continue;
            }
            let process = world.process(number);
            for connection in 0..process.links.len() {
                if process.links[connection] != Link::Open(node) {
                    continue;
                }
                process.links[connection] = Link::Broken;
                for held in process
                    .held
                    .iter_mut()
                    .filter(|held| held.connection == connection)
                {
                    held.answer = Err(Break::Closed);
                    // The one error is told where the reply is waited for.
                    process.links[connection] = Link::Fresh;
                }
            }
            world.refresh(&self.automaton, number);
        }
    }
}

/// How much of the log the replica that would be promoted has acknowledged. After a promotion or a
/// restart it is another one, or has to begin anew.
pub(super) fn acknowledged(world: &World) -> usize {
    let acknowledged = world.slots[world.primary].node().acknowledged();
    usize::try_from(acknowledged).unwrap_or(usize::MAX)
}
