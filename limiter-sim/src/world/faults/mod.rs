//! What can go wrong. Each file has one layer's faults: where they are offered, and what they do.

mod clients;
mod clocks;
mod disk;
mod memory;
mod network;
mod replication;

use super::simulation::{FARTHEST_MS, Simulation};
use super::{Action, Fault, World};

impl Simulation {
    /// Faults that may happen now, in the order of [`Fault::ALL`] by layer.
    pub(super) fn offer_faults(&mut self, world: &World, numbers: &[usize], to: &mut Vec<Action>) {
        self.offer_network_faults(world, numbers, to);
        self.offer_client_faults(world, numbers, to);
        self.offer_memory_faults(world, to);
        self.offer_disk_faults(world, to);
        self.offer_replication_faults(world, to);
        self.offer_clock_faults(world, numbers, to);
    }

    /// Whether the scenario lets `fault` happen once more.
    fn may(&self, world: &World, fault: Fault) -> bool {
        self.scenario.faults.allow(fault, &world.faults)
    }

    /// Ends of conditions that a fault began. They are not faults, and may come at any time.
    /// Nor is it one to reach an old primary that a fault left behind.
    pub(super) fn offer_relief(&mut self, world: &World, numbers: &[usize], to: &mut Vec<Action>) {
        if world.faults.total() > 0 {
            if world.slots.len() > 1 {
                self.offer_old_primary(world, numbers, to);
            }
            self.offer_freed_memory(world, to);
            self.offer_replication_relief(world, to);
        }
    }

    /// Whether a fault, or the end of one, is possible in `world`.
    pub(super) fn allows_fault(&self, world: &World, action: Action) -> bool {
        match action {
            Action::Crash { process } | Action::Reboot { process } => {
                let process = world.processes.get(usize::from(process));
                process.is_some_and(|process| !process.crashed)
            }
            Action::ProcessClock { process, by_ms } => {
                let process = world.processes.get(usize::from(process));
                process.is_some_and(|process| !process.crashed && is_near(process.offset_ms, by_ms))
            }
            Action::NodeClock { node, by_ms } => {
                let slot = world.slots.get(usize::from(node));
                slot.is_some_and(|slot| is_near(slot.offset_ms(), by_ms))
            }
            Action::Evict { node, key } => self
                .evictable(world, node)
                .is_some_and(|keys| usize::from(key) < keys.len()),
            Action::Full { node } | Action::FlushScripts { node } => {
                usize::from(node) < world.slots.len()
            }
            Action::Freed { node } => self.is_full(world, node),
            Action::Restart { node, kept } => {
                usize::from(node) == world.primary && self.can_keep_after_kill(world, kept)
            }
            Action::PowerLoss { node, kept } => {
                usize::from(node) == world.primary && self.can_keep_after_power_loss(world, kept)
            }
            Action::SlowDisk => world.log.is_some() && world.slow_from.is_none(),
            Action::Failover { received } | Action::SplitBrain { received } => {
                world.slots.len() == 1
                    && log_holds(world, received)
                    && received as usize >= replication::acknowledged(world)
            }
            Action::Heal => world.slots.len() > 1,
            Action::Stall => world
                .replica
                .as_ref()
                .is_some_and(|replica| !replica.stalled),
            Action::CatchUp => world
                .replica
                .as_ref()
                .is_some_and(|replica| replica.stalled),
            Action::Go { .. } | Action::Arrive { .. } | Action::Advance { .. } => false,
        }
    }

    pub(super) fn apply_fault(&mut self, world: &mut World, action: Action) {
        match action {
            Action::Crash { process } => self.crash(world, usize::from(process)),
            Action::Reboot { process } => self.reboot(world, usize::from(process)),
            Action::ProcessClock { process, by_ms } => {
                self.jump_process_clock(world, usize::from(process), by_ms);
            }
            Action::Evict { node, key } => self.evict(world, node, key),
            Action::Full { node } => self.fill_memory(world, usize::from(node)),
            Action::Freed { node } => self.free_memory(world, usize::from(node)),
            Action::FlushScripts { node } => self.flush_scripts(world, usize::from(node)),
            Action::Restart { node, kept } => {
                self.restart(world, usize::from(node), kept, Fault::Restart);
            }
            Action::PowerLoss { node, kept } => {
                self.restart(world, usize::from(node), kept, Fault::PowerLoss);
            }
            Action::SlowDisk => world.slow_from = world.log.as_ref().map(super::Log::len),
            Action::Failover { received } => self.fail_over(world, received),
            Action::SplitBrain { received } => self.split_brain(world, received),
            Action::Heal => self.heal(world),
            Action::NodeClock { node, by_ms } => {
                self.jump_node_clock(world, usize::from(node), by_ms);
            }
            Action::Stall => self.stall_replica(world),
            Action::CatchUp => self.catch_up(world),
            Action::Go { .. } | Action::Arrive { .. } | Action::Advance { .. } => {
                unreachable!("{action} is no fault")
            }
        }
    }
}

/// Whether a clock that is off by `offset_ms` can be set to be off by `by_ms` more.
fn is_near(offset_ms: i64, by_ms: i64) -> bool {
    offset_ms.saturating_add(by_ms).unsigned_abs() <= FARTHEST_MS
}

fn log_holds(world: &World, effects: u32) -> bool {
    world
        .log
        .as_ref()
        .is_some_and(|log| effects as usize <= log.len())
}
