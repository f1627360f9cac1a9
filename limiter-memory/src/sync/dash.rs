//! What is shipped: a dashmap, used shard by shard.

pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize};

use std::hash::{BuildHasherDefault, DefaultHasher};

use dashmap::{DashMap, RwLockReadGuard, RwLockWriteGuard, SharedValue};
use hashbrown::raw::RawTable;
pub(crate) use parking_lot::{Mutex, MutexGuard};

use crate::{Hash, PackedWindow, ShardHash};

/// How many shards of entries with moving deadlines there are.
pub(crate) fn dated_shards(shards: usize) -> usize {
    shards
}

type Table<K> = RawTable<(K, SharedValue<PackedWindow>)>;

/// Entries in shards. The keys' hashes come from the caller, so the map's own hasher is never used.
pub(crate) struct Map<K>(DashMap<K, PackedWindow, BuildHasherDefault<DefaultHasher>>);

impl<K: Eq + std::hash::Hash> Map<K> {
    /// `shards` is a power of two above 1; `reserve` entries find room without growth if they
    /// spread evenly.
    pub(crate) fn new(shards: usize, reserve: usize) -> Self {
        let unused = BuildHasherDefault::default();
        Self(DashMap::with_capacity_and_hasher_and_shard_amount(
            reserve, unused, shards,
        ))
    }

    pub(crate) fn shard_count(&self) -> usize {
        self.0.shards().len()
    }

    pub(crate) fn shard_of(&self, hash: Hash) -> usize {
        self.0.determine_shard(hash.for_shard())
    }

    pub(crate) fn read(&self, shard: usize) -> Reading<'_, K> {
        Reading(self.0.shards()[shard].read())
    }

    pub(crate) fn write(&self, shard: usize) -> Writing<'_, K> {
        Writing(self.0.shards()[shard].write())
    }
}

/// A shard that others may read too.
pub(crate) struct Reading<'a, K>(RwLockReadGuard<'a, Table<K>>);

impl<K> Reading<'_, K> {
    pub(crate) fn find(&self, hash: ShardHash, is: impl Fn(&K) -> bool) -> Option<PackedWindow> {
        let entry = self.0.get(hash.spread(), |(key, _)| is(key))?;
        Some(*entry.1.get())
    }
}

/// A shard that nobody else sees.
pub(crate) struct Writing<'a, K>(RwLockWriteGuard<'a, Table<K>>);

impl<K> Writing<'_, K> {
    pub(crate) fn find(
        &mut self,
        hash: ShardHash,
        is: impl Fn(&K) -> bool,
    ) -> Option<&mut PackedWindow> {
        let entry = self.0.get_mut(hash.spread(), |(key, _)| is(key))?;
        Some(entry.1.get_mut())
    }

    /// Adds an entry whose key is not there. `rehash` is asked for every key where the table grows.
    pub(crate) fn insert(
        &mut self,
        hash: ShardHash,
        key: K,
        value: PackedWindow,
        rehash: impl Fn(&K) -> ShardHash,
    ) {
        let entry = (key, SharedValue::new(value));
        let rehash = |entry: &(K, _)| rehash(&entry.0).spread();
        self.0.insert_entry(hash.spread(), entry, rehash);
    }

    /// Removes one entry that `may_go`; says whether there was one. It asks about the entries that
    /// `hash` leads to, which may have other hashes: a table keeps no more of them than a tag.
    pub(crate) fn remove(
        &mut self,
        hash: ShardHash,
        may_go: impl Fn(&K, PackedWindow) -> bool,
    ) -> bool {
        let may_go = |(key, value): &(K, SharedValue<_>)| may_go(key, *value.get());
        self.0.erase_entry(hash.spread(), may_go)
    }
}
