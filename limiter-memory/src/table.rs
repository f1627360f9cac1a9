//! A map and, beside each of its shards, the queues that say what expires next.

use std::hash::BuildHasher;

use limiter_core::rule::first_arrival::Window;
use limiter_core::{Length, Timestamp};

use crate::expiry::{Expiry, Step};
use crate::key::{Query, StoredKey};
use crate::sync::{Map, Reading, Writing};
use crate::{Hash, PackedWindow, ShardHash};

pub(crate) struct Table<K> {
    map: Map<K>,
    expiry: Box<[Expiry]>,
}

impl<K: StoredKey> Table<K> {
    pub(crate) fn new(shards: usize, reserve: usize) -> Self {
        let map = Map::new(shards, with_slack(shards, reserve));
        let expiry = (0..map.shard_count()).map(|_| Expiry::new()).collect();
        Self { map, expiry }
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.expiry.len()
    }

    pub(crate) fn shard_of(&self, hash: Hash) -> usize {
        self.map.shard_of(hash)
    }

    /// A shard, shared with other readers.
    pub(crate) fn read(&self, shard: usize) -> Reading<'_, K> {
        self.map.read(shard)
    }

    /// A shard, exclusively; `hasher` is the one that its entries were hashed with.
    pub(crate) fn write<'a, S>(&'a self, shard: usize, hasher: &'a S) -> Shard<'a, K, S> {
        Shard {
            entries: self.map.write(shard),
            expiry: &self.expiry[shard],
            hasher,
        }
    }

    /// Whether `shard` seems to have something expired; asked without locking it.
    pub(crate) fn is_due(&self, shard: usize, now: Timestamp) -> bool {
        self.expiry[shard].is_due(now)
    }
}

/// Entries do not spread evenly: room for five standard deviations more in every shard, so that none
/// has to grow.
fn with_slack(shards: usize, reserve: usize) -> usize {
    let deviation = reserve.div_ceil(shards).isqrt();
    reserve.saturating_add(5 * deviation * shards)
}

/// One shard of a [`Table`], locked for writing.
pub(crate) struct Shard<'a, K, S> {
    entries: Writing<'a, K>,
    expiry: &'a Expiry,
    hasher: &'a S,
}

impl<K: StoredKey, S: BuildHasher> Shard<'_, K, S> {
    pub(crate) fn find(
        &mut self,
        hash: ShardHash,
        is: impl Fn(&K) -> bool,
    ) -> Option<&mut PackedWindow> {
        self.entries.find(hash, is)
    }

    /// Adds an entry whose key is not there, with its first window.
    pub(crate) fn insert(&mut self, hash: ShardHash, key: K, window: PackedWindow) {
        let rehash = |key: &K| key.hash_by(self.hasher).in_shard();
        self.entries.insert(hash, key, window, rehash);
    }

    /// Remembers that an entry with `hash` has a new window.
    pub(crate) fn note(&self, length: Length, hash: ShardHash, deadline: Timestamp) {
        self.expiry.note(length, hash, deadline);
    }

    /// Stores the window that a charge led to, in place of `open`, which was found under the same
    /// lock.
    pub(crate) fn save<Q: Query<Stored = K>>(
        &mut self,
        query: Q,
        hash: ShardHash,
        length: Length,
        open: Option<Window>,
        window: Window,
    ) {
        match self.find(hash, |key| query.matches(key)) {
            Some(stored) => *stored = window.into(),
            None => self.insert(hash, query.to_stored(), window.into()),
        }
        if open.is_none_or(|open| open.deadline != window.deadline) {
            self.note(length, hash, window.deadline);
        }
    }

    /// Removes the one entry that `is` the right one; says whether there was one. Its record stays,
    /// and will find nothing to remove.
    pub(crate) fn remove(&mut self, hash: ShardHash, is: impl Fn(&K) -> bool) -> bool {
        self.entries.remove(hash, |key, _| is(key))
    }

    /// Removes expired entries, and lets `settle` do what their number asks for.
    pub(crate) fn remove_expired<T>(
        &mut self,
        now: Timestamp,
        step: Step,
        settle: impl FnOnce(usize) -> T,
    ) -> T {
        let remove = |hash| {
            let has_hash = |key: &K| key.hash_by(self.hasher).in_shard() == hash;
            let may_go = |key: &K, window: PackedWindow| window.is_past(now) && has_hash(key);
            self.entries.remove(hash, may_go)
        };
        self.expiry.take_step(now, step, remove, settle)
    }
}
