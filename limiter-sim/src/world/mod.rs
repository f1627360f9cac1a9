//! The world: processes, servers, time, and what the judges know.
//!
//! `simulation` says which steps there are, `traffic` what a request does, `faults` what can go
//! wrong. The layers do not know each other: disks and replicas know a log of effects, not
//! commands; servers do not know who asks; judges see a ledger.

mod action;
mod aftermath;
mod calls;
mod fault;
mod faults;
mod ledger;
mod log;
mod memo;
#[cfg(test)]
mod mutants;
mod process;
mod reduction;
mod simulation;
mod slot;
mod traffic;

pub(crate) use action::{Action, Way};
pub(crate) use aftermath::Aftermath;
pub(crate) use calls::{Calls, first_that_does_not_linearize};
pub use fault::Fault;
pub(crate) use fault::{FaultBounds, FaultCounts};
pub(crate) use ledger::{Attempted, Booking, Ledger};
#[cfg(test)]
pub(crate) use mutants::Mutant;
pub(crate) use simulation::{Happened, Simulation};

use std::rc::Rc;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::fingerprint::Digest;
use crate::server::Effect;
use log::Log;
use process::Process;
use slot::Slot;

/// Reference time at the beginning of every history, in milliseconds since the Unix epoch. Only
/// differences matter; it has as many digits as the present has.
pub(crate) const EPOCH_MS: u64 = 1_700_000_000_000;

/// One state. Cloning it is how the search goes back.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Reference time in milliseconds.
    pub(crate) now: u64,
    /// The servers that take writes: one, or two while an old primary does not know that it is one
    /// no more.
    pub(crate) slots: SmallVec<[Slot; 1]>,
    /// The slot that new connections reach.
    pub(crate) primary: usize,
    /// The replica that clients read, where they do.
    replica: Option<Arc<Replica>>,
    /// What the primary did, for disks and replicas; `None` where nothing can need it any more.
    log: Option<Log>,
    /// The length of the log when an fsync began that has not come back.
    slow_from: Option<usize>,
    pub(crate) processes: Vec<Rc<Process>>,
    pub(crate) ledger: Ledger,
    pub(crate) time_steps: u32,
    pub(crate) faults: FaultCounts,
    /// The process that moved last. Not part of the fingerprint: it only orders the choices.
    pub(crate) mover: Option<u16>,
    /// Processes that can still go on.
    open: usize,
    processes_digest: Digest,
}

/// A server that receives what the primary did.
#[derive(Clone, Debug)]
pub(crate) struct Replica {
    slot: Slot,
    stalled: bool,
    /// Effects that it has not received yet.
    backlog: Vec<Effect>,
}

impl Replica {
    fn digest(&self) -> Digest {
        Digest::of(&(self.slot.digest().0, self.stalled, &self.backlog))
    }
}

impl World {
    /// What tells this state from all others that could go on, or be judged, differently.
    pub(crate) fn digest(&self) -> Digest {
        Digest::of(&(self.situation().0, &self.ledger))
    }

    /// What tells this state from all others that could go on differently. The ledger does not: it
    /// only grows.
    pub(crate) fn situation(&self) -> Digest {
        let mut slots = Digest::default();
        for (number, slot) in self.slots.iter().enumerate() {
            slots = Digest(
                slots.0
                    ^ slot
                        .digest()
                        .0
                        .rotate_left(u32::try_from(number).unwrap_or(0)),
            );
        }
        let replica = self.replica.as_ref().map(|replica| replica.digest().0);
        Digest::of(&(
            self.now,
            self.time_steps,
            self.faults,
            (self.processes_digest.0, slots.0, self.primary),
            replica,
            self.log.as_ref().map(|log| log.digest().0),
            self.slow_from,
        ))
    }

    /// How much disks and replicas can know of what the primary did.
    pub(crate) fn log_len(&self) -> usize {
        self.log.as_ref().map_or(0, Log::len)
    }

    /// Whether a key of the primary lives in the last millisecond of its life.
    pub(crate) fn is_at_a_deadline(&self) -> bool {
        let slot = &self.slots[self.primary];
        let now = slot.own_time(self.now);
        let mut entries = slot.node().keyspace();
        entries.any(|entry| entry.deadline_ms() == Some(now))
    }

    /// Whether every client is done.
    pub(crate) fn is_complete(&self) -> bool {
        self.open == 0
    }
}
