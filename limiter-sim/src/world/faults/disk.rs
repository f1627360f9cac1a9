//! Servers that are killed, and what their disks have kept.
//!
//! A killed process is not a lost host. What the process wrote to a file survives it, because the
//! operating system has it; so under every append-only policy a kill loses no acknowledged write,
//! unless a background fsync is under way: then Redis postpones its own write and replies all the
//! same. A power loss takes what no fsync has put on the disk.

use std::ops::RangeInclusive;

use super::super::simulation::{Simulation, narrow};
use super::super::{Action, Fault, World};
use crate::scenario::Persistence;

/// How long, at the most, an append-only file goes without an fsync under `everysec`: a second, and
/// another one that a slow fsync is waited for.
const EVERYSEC_MS: u64 = 2000;

impl Simulation {
    pub(super) fn offer_disk_faults(&self, world: &World, to: &mut Vec<Action>) {
        let Some(log) = &world.log else {
            return;
        };
        let node = narrow(world.primary);
        let used = log.len() > 0
            || world
                .processes
                .iter()
                .any(|process| !process.links.is_empty());
        if self.may(world, Fault::Restart) && used && self.scenario.subject.uses().server {
            let kept = self.kept_by_kill(world, log.len());
            to.extend(kept.map(|kept| Action::Restart {
                node,
                kept: narrow(kept),
            }));
        }
        if self.may(world, Fault::SlowDisk)
            && world.slow_from.is_none()
            && self.scenario.persistence == Persistence::AofEverysec
        {
            to.push(Action::SlowDisk);
        }
        if self.may(world, Fault::PowerLoss) && used {
            let kept = self.kept_by_power_loss(world, log.len());
            to.extend(kept.map(|kept| Action::PowerLoss {
                node,
                kept: narrow(kept),
            }));
        }
    }

    /// Whether just the first `kept` effects can survive a kill of the process.
    pub(super) fn can_keep_after_kill(&self, world: &World, kept: u32) -> bool {
        let log = world.log.as_ref();
        log.is_some_and(|log| {
            self.kept_by_kill(world, log.len())
                .contains(&(kept as usize))
        })
    }

    /// Whether just the first `kept` effects can survive a loss of power.
    pub(super) fn can_keep_after_power_loss(&self, world: &World, kept: u32) -> bool {
        let log = world.log.as_ref();
        log.is_some_and(|log| {
            let possible = self.kept_by_power_loss(world, log.len());
            possible.contains(&(kept as usize))
        })
    }

    /// How many effects can survive a kill of the process.
    fn kept_by_kill(&self, world: &World, len: usize) -> RangeInclusive<usize> {
        match self.scenario.persistence {
            Persistence::None => 0..=0,
            // The last snapshot can be of any time.
            Persistence::Rdb => 0..=len,
            Persistence::AofEverysec => world.slow_from.unwrap_or(len)..=len,
            Persistence::AofNo | Persistence::AofAlways => len..=len,
        }
    }

    /// How many effects can survive a loss of power.
    fn kept_by_power_loss(&self, world: &World, len: usize) -> RangeInclusive<usize> {
        match self.scenario.persistence {
            Persistence::None => 0..=0,
            // No fsync of an append-only file is ever asked for; the operating system may have done
            // some, or none.
            Persistence::Rdb | Persistence::AofNo => 0..=len,
            Persistence::AofEverysec => {
                let synchronised = world.now.saturating_sub(EVERYSEC_MS);
                let before = world.log.as_ref().map_or(0, |log| log.before(synchronised));
                before.min(world.slow_from.unwrap_or(len))..=len
            }
            Persistence::AofAlways => len..=len,
        }
    }

    /// The server comes back with the first `kept` effects of its log, and every connection to it is
    /// broken.
    pub(super) fn restart(&mut self, world: &mut World, node: usize, kept: u32, fault: Fault) {
        let log = world
            .log
            .as_ref()
            .expect("a restart is offered where there is a log");
        let kept = kept as usize;
        self.bite(fault);
        if kept < log.len() && world.slow_from.is_some() {
            self.bite(Fault::SlowDisk);
        }
        let log = log.first(kept);
        let offset_ms = world.slots[node].offset_ms();
        world.slots[node] = self.revived(&log, world.now, offset_ms, true);
        world.log = Some(log);
        world.slow_from = None;
        self.carry(world, node);
        self.synchronise_replica(world);
        self.break_links(world, node);
    }
}
