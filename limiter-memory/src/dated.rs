//! Entries that have a deadline, and move it: what is kept beside the windows.
//!
//! A tree, so that no hasher and no chosen key can make it slow, and one record per entry in a heap
//! by deadline. The deadline of a bucket, an interval or a lease moves with use; its record stays
//! where it is, and is put back with the new deadline when it comes up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use limiter_core::Timestamp;

use crate::sync::{AtomicU64, Mutex, MutexGuard, Padded, Relaxed};

/// Something that may be dropped after an instant.
pub(crate) trait Deadline {
    fn deadline(&self) -> Timestamp;
}

/// Shards of entries, each behind its own lock.
pub(crate) struct DatedShards<K, V>(Box<[Padded<Shard<K, V>>]>);

struct Shard<K, V> {
    /// The earliest deadline of all records: a hint for those who look for a shard worth locking.
    due_ms: AtomicU64,
    dated: Mutex<Dated<K, V>>,
}

const NOTHING: u64 = u64::MAX;

struct Dated<K, V> {
    entries: BTreeMap<K, Entry<V>>,
    records: BinaryHeap<Reverse<(Timestamp, K)>>,
}

struct Entry<V> {
    value: V,
    /// The deadline of its one record; others of the same key are outdated.
    noted: Timestamp,
}

impl<K: Ord + Clone, V: Deadline> DatedShards<K, V> {
    pub(crate) fn new(shards: usize) -> Self {
        let shard = |_| {
            Padded(Shard {
                due_ms: AtomicU64::new(NOTHING),
                dated: Mutex::new(Dated {
                    entries: BTreeMap::new(),
                    records: BinaryHeap::new(),
                }),
            })
        };
        Self((0..crate::sync::dated_shards(shards)).map(shard).collect())
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn lock(&self, shard: usize) -> Locked<'_, K, V> {
        let shard = &self.0[shard].0;
        Locked {
            dated: shard.dated.lock(),
            due_ms: &shard.due_ms,
        }
    }

    /// Whether `shard` seems to have something that is over; asked without locking it.
    pub(crate) fn is_due(&self, shard: usize, now: Timestamp) -> bool {
        self.0[shard].0.due_ms.load(Relaxed) < now.as_millis()
    }
}

/// One shard that nobody else sees.
pub(crate) struct Locked<'a, K, V> {
    dated: MutexGuard<'a, Dated<K, V>>,
    due_ms: &'a AtomicU64,
}

impl<K: Ord + Clone, V: Deadline> Locked<'_, K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.dated.entries.get(key).map(|entry| &entry.value)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.dated.entries.get_mut(key)?;
        Some(&mut entry.value)
    }

    /// Adds or replaces an entry.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let noted = value.deadline();
        self.dated.records.push(Reverse((noted, key.clone())));
        self.dated.entries.insert(key, Entry { value, noted });
        self.note_due();
    }

    /// Removes an entry; says whether there was one.
    pub(crate) fn remove(&mut self, key: &K) -> bool {
        self.dated.entries.remove(key).is_some()
    }

    /// Removes entries that are over, after looking at no more than `records`; says how many.
    pub(crate) fn remove_expired(&mut self, now: Timestamp, records: usize) -> usize {
        let mut removed = 0;
        for _ in 0..records {
            let first = self.dated.records.peek();
            if first.is_none_or(|Reverse((deadline, _))| *deadline >= now) {
                break;
            }
            removed += usize::from(self.settle_first(now));
        }
        self.note_due();
        removed
    }

    /// Takes the first record, and removes its entry or notes its new deadline.
    fn settle_first(&mut self, now: Timestamp) -> bool {
        let dated = &mut *self.dated;
        let Some(Reverse((deadline, key))) = dated.records.pop() else {
            return false;
        };
        let Some(entry) = dated.entries.get_mut(&key) else {
            return false;
        };
        if entry.noted != deadline {
            return false;
        }
        let moved = entry.value.deadline();
        if moved < now {
            return dated.entries.remove(&key).is_some();
        }
        entry.noted = moved;
        dated.records.push(Reverse((moved, key)));
        false
    }

    fn note_due(&self) {
        let first = self.dated.records.peek();
        let due_ms = first.map_or(NOTHING, |Reverse((deadline, _))| deadline.as_millis());
        self.due_ms.store(due_ms, Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Until(u64);

    impl Deadline for Until {
        fn deadline(&self) -> Timestamp {
            Timestamp::from_millis(self.0)
        }
    }

    fn ms(ms: u64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn an_entry_goes_one_millisecond_after_its_deadline_wherever_that_has_moved() {
        let shards = DatedShards::new(2);
        let mut shard = shards.lock(1);
        shard.insert("a", Until(10));
        shard.get_mut(&"a").unwrap().0 = 20;
        assert_eq!(shard.remove_expired(ms(11), 9), 0);
        assert_eq!(shard.remove_expired(ms(20), 9), 0);
        assert!(!shards.is_due(1, ms(20)) && shards.is_due(1, ms(21)));
        assert_eq!(shard.remove_expired(ms(21), 9), 1);
        assert!(shard.get(&"a").is_none() && !shards.is_due(1, ms(99)));
    }

    #[test]
    fn the_record_of_a_removed_entry_does_not_take_its_successor() {
        let shards = DatedShards::new(2);
        let mut shard = shards.lock(0);
        for until in [10, 50] {
            shard.insert("a", Until(until));
            assert!(shard.remove(&"a"));
        }
        shard.insert("a", Until(90));
        assert_eq!(shard.remove_expired(ms(60), 9), 0);
        assert_eq!(shard.dated.records.len(), 1);
        assert_eq!(shard.remove_expired(ms(91), 9), 1);
    }
}
