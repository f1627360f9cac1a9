//! Steps that were taken before.
//!
//! What a step does to its process and to the servers is a function of their states and of the time.
//! Many histories take the same step; so it is taken once, and then looked up. Whatever else a step
//! does, it does to the ledger, the log and the count of those who can go on, and that is done anew
//! each time.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use super::ledger::Booking;
use super::log::Log;
use super::process::Process;
use super::simulation::{Happened, Simulation};
use super::slot::Slot;
use super::{Replica, Way, World};
use crate::fingerprint::{AlreadyHashed, Digest};
use crate::server::Effect;

/// Steps that are kept; with more, all are forgotten.
const MOST_STEPS: usize = 1 << 17;

/// What is known about steps.
#[derive(Default)]
pub(super) struct Memo {
    steps: HashMap<u128, Taken, AlreadyHashed>,
    /// Servers that were made from a log, by that log and the time.
    revived: HashMap<u128, Slot, AlreadyHashed>,
    /// What the step that is being taken did so far.
    pub(super) bookings: SmallVec<[Booking; 1]>,
    pub(super) effects: Vec<Rc<[Effect]>>,
}

#[derive(Clone)]
struct Taken {
    process: Rc<Process>,
    slots: SmallVec<[Slot; 1]>,
    replica: Option<Arc<Replica>>,
    bookings: SmallVec<[Booking; 1]>,
    effects: Vec<Rc<[Effect]>>,
    happened: Rc<Happened>,
}

impl Simulation {
    /// A process takes a step that nothing disturbs: as it did before, if it did.
    pub(super) fn go_undisturbed(&mut self, world: &mut World, number: usize, lane: usize) {
        if self.scenario.unmemoised || world.slots.iter().any(|slot| slot.node().has_sessions()) {
            // A session belongs to a connection, and so to one process of many alike.
            return self.go(world, number, lane, Way::Through);
        }
        let key = key(world, number, lane);
        if let Some(taken) = self.memo.steps.get(&key.0) {
            let taken = taken.clone();
            return self.go_as_before(world, number, taken);
        }
        self.memo.bookings.clear();
        self.memo.effects.clear();
        self.go(world, number, lane, Way::Through);
        let sessions = world.slots.iter().any(|slot| slot.node().has_sessions());
        if sessions || self.trouble.is_some() {
            return;
        }
        if self.memo.steps.len() >= MOST_STEPS {
            self.memo.steps.clear();
        }
        let taken = Taken {
            process: Rc::clone(&world.processes[number]),
            slots: world.slots.clone(),
            replica: world.replica.clone(),
            bookings: self.memo.bookings.clone(),
            effects: self.memo.effects.clone(),
            happened: Rc::clone(&self.happened),
        };
        self.memo.steps.insert(key.0, taken);
    }

    /// A server that holds what `log` says, at reference time `now`.
    pub(super) fn revived(&mut self, log: &Log, now: u64, offset_ms: i64, from_disk: bool) -> Slot {
        let key = Digest::of(&(log.digest().0, now, offset_ms, from_disk)).0;
        if let Some(slot) = self.memo.revived.get(&key) {
            return slot.clone();
        }
        if self.memo.revived.len() >= MOST_STEPS {
            self.memo.revived.clear();
        }
        let node = log.node(&self.scenario.server, offset_ms, from_disk);
        let mut slot = Slot::new(node, offset_ms);
        slot.set_time(now);
        self.memo.revived.insert(key, slot.clone());
        slot
    }

    fn go_as_before(&mut self, world: &mut World, number: usize, taken: Taken) {
        world.slots = taken.slots;
        world.replica = taken.replica;
        for booking in taken.bookings {
            let cost = self.scenario.parameters.cost;
            world.ledger.book(booking, cost, world.now);
        }
        if let Some(log) = &mut world.log {
            for effects in taken.effects {
                log.push(effects, world.now);
            }
        }
        self.happened = taken.happened;
        world.replace(number, taken.process);
    }
}

/// All that decides what the step does.
fn key(world: &World, number: usize, lane: usize) -> Digest {
    let mut slots = Digest::default();
    for slot in &world.slots {
        slots = Digest(slots.0.rotate_left(1) ^ slot.digest().0);
    }
    let replica = world.replica.as_ref().map(|replica| replica.digest().0);
    let process = world.processes[number].digest.0;
    // Bites are noted in the step, where there has been a fault: keep it apart from one without.
    let disturbed = world.faults.total() > 0;
    Digest::of(&(
        process,
        lane,
        world.now,
        world.primary,
        slots.0,
        replica,
        disturbed,
        // Where it stands among the refunds is part of what an attempt did.
        world.ledger.refunds(),
    ))
}
