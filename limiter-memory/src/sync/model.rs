//! What loom sees: one shard, a list of entries behind loom's lock.

pub(crate) use loom::sync::atomic::{AtomicU64, AtomicUsize};

pub(crate) use loom::sync::MutexGuard;
use loom::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::{Hash, PackedWindow, ShardHash};

/// Enough for one lock to be taken after another.
pub(crate) fn dated_shards(_shards: usize) -> usize {
    2
}

struct Entry<K> {
    hash: ShardHash,
    key: K,
    value: PackedWindow,
}

pub(crate) struct Map<K>(RwLock<Vec<Entry<K>>>);

impl<K> Map<K> {
    pub(crate) fn new(_shards: usize, reserve: usize) -> Self {
        Self(RwLock::new(Vec::with_capacity(reserve)))
    }

    pub(crate) fn shard_count(&self) -> usize {
        1
    }

    pub(crate) fn shard_of(&self, _hash: Hash) -> usize {
        0
    }

    pub(crate) fn read(&self, _shard: usize) -> Reading<'_, K> {
        Reading(self.0.read().expect("loom does not poison"))
    }

    pub(crate) fn write(&self, _shard: usize) -> Writing<'_, K> {
        Writing(self.0.write().expect("loom does not poison"))
    }
}

pub(crate) struct Reading<'a, K>(RwLockReadGuard<'a, Vec<Entry<K>>>);

impl<K> Reading<'_, K> {
    pub(crate) fn find(&self, hash: ShardHash, is: impl Fn(&K) -> bool) -> Option<PackedWindow> {
        let mut entries = self.0.iter();
        let entry = entries.find(|entry| entry.hash == hash && is(&entry.key))?;
        Some(entry.value)
    }
}

pub(crate) struct Writing<'a, K>(RwLockWriteGuard<'a, Vec<Entry<K>>>);

impl<K> Writing<'_, K> {
    pub(crate) fn find(
        &mut self,
        hash: ShardHash,
        is: impl Fn(&K) -> bool,
    ) -> Option<&mut PackedWindow> {
        let mut entries = self.0.iter_mut();
        let entry = entries.find(|entry| entry.hash == hash && is(&entry.key))?;
        Some(&mut entry.value)
    }

    pub(crate) fn insert(
        &mut self,
        hash: ShardHash,
        key: K,
        value: PackedWindow,
        _rehash: impl Fn(&K) -> ShardHash,
    ) {
        self.0.push(Entry { hash, key, value });
    }

    /// Asks about every entry: any may be where `hash` leads.
    pub(crate) fn remove(
        &mut self,
        _hash: ShardHash,
        may_go: impl Fn(&K, PackedWindow) -> bool,
    ) -> bool {
        let mut entries = self.0.iter();
        let found = entries.position(|entry| may_go(&entry.key, entry.value));
        found.map(|at| self.0.swap_remove(at)).is_some()
    }
}

/// loom's mutex with parking_lot's signature.
#[derive(Debug)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().expect("loom does not poison")
    }
}
