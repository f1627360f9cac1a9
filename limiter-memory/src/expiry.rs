//! Which entries of a shard expire next.
//!
//! # Why queues
//!
//! Removal must find expired budgets without looking at the live ones: in bounded steps while calls
//! go on, and at once when the store is full. A cursor that creeps over the table costs no memory,
//! but in a full store with one expired budget it would have to creep over everything. A heap or a
//! wheel costs more, and order is to be had for nothing: windows of one length end in the order in
//! which they open. So each shard keeps a queue per length, and what is over is always at a front.
//!
//! A record is eight bytes. It needs no key: whatever entry with its hash is expired may go. There
//! are as many records as entries with that hash, so each entry is met.
//!
//! A budget that is used again after its window ended is opened anew in place, and gets a second
//! record. The first is then outdated: it is met at the front, finds no expired entry, and is
//! dropped. Each opening looks at two records and adds one, so outdated ones do not pile up.

use limiter_core::{Length, Timestamp};

use crate::ShardHash;
use crate::queue::Queue;
use crate::sync::{Acquire, AtomicU64, Mutex, Padded, Relaxed, Release};

/// The expiry queues of one shard. They change only while the shard is locked for writing; the
/// mutex inside is there because the map's lock cannot hold anything but the map, and nobody ever
/// waits for it.
pub(crate) struct Expiry(Padded<Inner>);

struct Inner {
    /// The earliest deadline of all records, or [`NOTHING`]: a hint for those who look for a shard
    /// worth locking. It may be out of date for a moment; nothing is removed on its word.
    due_ms: AtomicU64,
    /// By length; of one length, the later queue after the earlier.
    queues: Mutex<Vec<Queue>>,
}

const NOTHING: u64 = u64::MAX;

/// How much one step of removal may do while it holds a shard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Records to look at.
    pub(crate) records: usize,
    /// Entries to remove.
    pub(crate) entries: usize,
}

impl Expiry {
    pub(crate) fn new() -> Self {
        Self(Padded(Inner {
            due_ms: AtomicU64::new(NOTHING),
            queues: Mutex::new(Vec::new()),
        }))
    }

    /// Whether a record's deadline seems to be over.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.inner().due_ms.load(Acquire) < now.as_millis()
    }

    /// Remembers that the window of an entry with `hash` ends at `deadline`.
    pub(crate) fn note(&self, length: Length, hash: ShardHash, deadline: Timestamp) {
        let mut queues = self.inner().queues.lock();
        let end = queues.partition_point(|queue| queue.length() <= length);
        let last = queues[..end].last_mut();
        let same = last.filter(|queue| queue.length() == length);
        if !same.is_some_and(|queue| queue.push(hash, deadline)) {
            queues.insert(end, Queue::beginning_with(length, hash, deadline));
        }
        if deadline.as_millis() < self.inner().due_ms.load(Relaxed) {
            self.inner().due_ms.store(deadline.as_millis(), Release);
        }
    }

    /// Takes a step: `remove` removes an expired entry with the hash it is given, if there is one, and
    /// `settle` does what the number of those removed asks for.
    ///
    /// The latter is done before the hint says that nothing is left here: whoever then passes this shard
    /// over knows of the places that became free.
    pub(crate) fn take_step<T>(
        &self,
        now: Timestamp,
        step: Step,
        mut remove: impl FnMut(ShardHash) -> bool,
        settle: impl FnOnce(usize) -> T,
    ) -> T {
        if !self.is_due(now) {
            return settle(0);
        }
        let mut queues = self.inner().queues.lock();
        let mut records = step.records;
        let mut removed = 0;
        for queue in &mut *queues {
            while records > 0 && removed < step.entries {
                let Some(hash) = queue.pop_past(now) else {
                    break;
                };
                records -= 1;
                removed += usize::from(remove(hash));
            }
        }
        // Of one length only the last queue is added to: an earlier one goes when it is empty.
        queues.dedup_by(|later, earlier| {
            let is_done = earlier.length() == later.length() && earlier.due().is_none();
            if is_done {
                std::mem::swap(later, earlier);
            }
            is_done
        });
        let settled = settle(removed);
        let due_ms = queues.iter().filter_map(Queue::due).min();
        let due_ms = due_ms.map_or(NOTHING, Timestamp::as_millis);
        self.inner().due_ms.store(due_ms, Release);
        settled
    }

    fn inner(&self) -> &Inner {
        &self.0.0
    }
}
