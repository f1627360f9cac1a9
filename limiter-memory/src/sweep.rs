//! Giving back the room of what is over, when nothing new arrives to do it in passing.

use std::hash::BuildHasher;

use limiter_core::Clock;

use crate::MemoryStore;
use crate::dated::{DatedShards, Deadline};
use crate::expiry::Step;
use crate::key::StoredKey;
use crate::places::Places;
use crate::table::Table;

/// How long a sweep holds a shard.
const RECORDS_AT_A_TIME: usize = 64;

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStore<C, S> {
    /// Removes expired budgets, at most `max` of them; says how many. Fewer than `max` means that
    /// none was left when their shard was looked at.
    ///
    /// No call is needed for the store to work: each budget that is opened looks at up to two
    /// records of what may have expired, and a full store looks for expired ones before it refuses.
    /// Call it now and then to have the room back while nothing new arrives. It holds a shard for at
    /// most 64 records at a time, so it may run beside any load. It does nothing where the clock
    /// shows a year after 2247.
    pub fn remove_expired(&self, max: usize) -> usize {
        let mut removed = self.sweep(&self.short, max);
        removed += self.sweep(&self.long, max - removed);
        self.sweep_dated(&self.records, &self.record_places, usize::MAX);
        removed + self.sweep_dated(&self.others, &self.places, max - removed)
    }

    fn sweep_dated<K: Ord + Clone, V: Deadline>(
        &self,
        dated: &DatedShards<K, V>,
        places: &Places,
        max: usize,
    ) -> usize {
        let Ok(moment) = self.time.moment() else {
            return 0;
        };
        let mut removed = 0;
        for shard in 0..dated.shard_count() {
            while removed < max && dated.is_due(shard, moment.now) {
                let records = RECORDS_AT_A_TIME.min(max - removed);
                let freed = dated.lock(shard).remove_expired(moment.now, records);
                places.give_back(freed);
                removed += freed;
            }
        }
        removed
    }

    fn sweep<K: StoredKey>(&self, table: &Table<K>, max: usize) -> usize {
        let Ok(moment) = self.time.moment() else {
            return 0;
        };
        let mut removed = 0;
        for shard in 0..table.shard_count() {
            while removed < max && table.is_due(shard, moment.now) {
                let step = Step {
                    records: RECORDS_AT_A_TIME,
                    entries: max - removed,
                };
                let mut shard = table.write(shard, &self.hasher);
                removed += shard.remove_expired(moment.now, step, |freed| {
                    self.places.give_back(freed);
                    freed
                });
            }
        }
        removed
    }
}
