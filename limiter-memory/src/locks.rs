//! The locks of one decision on several budgets.
//!
//! All are held until every charge is applied, so nobody sees a part of it. All are taken in one
//! order, by table and then by shard; the fast path takes one at a time; and room is sought without
//! any. So no two threads can wait for each other.

use std::hash::BuildHasher;

use limiter_core::{Budget, RequestId};

use crate::key::{LongKey, LongQuery, Query, ShortKey};
use crate::other::{LockedOthers, LockedRecords, OtherKey, key_of};
use crate::table::Shard;
use crate::{Hash, MemoryStore};

/// A shard of a table, in the order in which locks are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    Short(usize),
    Long(usize),
    Other(usize),
    Record(usize),
}

/// Where a budget is kept, and under what.
#[derive(Clone, Debug)]
pub(crate) enum Place<'a> {
    Short(ShortKey, Hash),
    Long(LongQuery<'a>, Hash),
    Other(OtherKey),
}

pub(crate) enum Lock<'a, S> {
    Short(Shard<'a, ShortKey, S>),
    Long(Shard<'a, LongKey, S>),
    Other(LockedOthers<'a>),
    Record(LockedRecords<'a>),
}

/// Locked shards, in order.
pub(crate) struct Locks<'a, S>(Vec<(Spot, Lock<'a, S>)>);

impl<C, S: BuildHasher> MemoryStore<C, S> {
    /// Where `budget` is kept.
    pub(crate) fn place_of<'a>(&self, budget: &'a Budget) -> (Spot, Place<'a>) {
        if !crate::decide::is_plain(budget.policy()) {
            let key = key_of(budget);
            let shard = self.dated_shard(&key, self.others.shard_count());
            return (Spot::Other(shard), Place::Other(key));
        }
        let space = budget.policy().key_space().id();
        let short = match budget.identity() {
            Some(identity) => ShortKey::of(space, identity.as_bytes()),
            None => Some(ShortKey::shared(space)),
        };
        match (short, budget.identity()) {
            (None, Some(identity)) => {
                let query = LongQuery::new(space, identity.as_bytes());
                let hash = query.hash(&self.hasher);
                let spot = Spot::Long(self.long.shard_of(hash));
                (spot, Place::Long(query, hash))
            }
            (short, _) => {
                let key = short.unwrap_or_else(|| ShortKey::shared(space));
                let hash = key.hash(&self.hasher);
                let spot = Spot::Short(self.short.shard_of(hash));
                (spot, Place::Short(key, hash))
            }
        }
    }

    /// Where what is remembered under `id` is kept.
    pub(crate) fn record_of(&self, id: &RequestId) -> Spot {
        Spot::Record(self.dated_shard(id, self.records.shard_count()))
    }

    fn dated_shard(&self, key: &impl std::hash::Hash, shards: usize) -> usize {
        (self.hasher.hash_one(key) >> 32) as usize % shards
    }

    /// Locks `spots`, each once, in order.
    pub(crate) fn lock(&self, mut spots: Vec<Spot>) -> Locks<'_, S> {
        spots.sort_unstable();
        spots.dedup();
        let lock = |spot| match spot {
            Spot::Short(shard) => Lock::Short(self.short.write(shard, &self.hasher)),
            Spot::Long(shard) => Lock::Long(self.long.write(shard, &self.hasher)),
            Spot::Other(shard) => Lock::Other(self.others.lock(shard)),
            Spot::Record(shard) => Lock::Record(self.records.lock(shard)),
        };
        Locks(spots.into_iter().map(|spot| (spot, lock(spot))).collect())
    }
}

impl<'a, S> Locks<'a, S> {
    /// # Panics
    /// Where `spot` was not among those that were locked.
    pub(crate) fn at(&mut self, spot: Spot) -> &mut Lock<'a, S> {
        let found = self.0.iter_mut().find(|(locked, _)| *locked == spot);
        let (_, lock) = found.expect("every shard of a decision is locked before it");
        lock
    }

    /// All of them, in order.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Lock<'a, S>> {
        self.0.iter_mut().map(|(_, lock)| lock)
    }

    /// The shard of others at `spot`; `None` where it is one of another table.
    pub(crate) fn others(&mut self, spot: Spot) -> Option<&mut LockedOthers<'a>> {
        match self.at(spot) {
            Lock::Other(others) => Some(others),
            _ => None,
        }
    }

    /// The shard of records at `spot`; `None` where it is one of another table.
    pub(crate) fn records(&mut self, spot: Spot) -> Option<&mut LockedRecords<'a>> {
        match self.at(spot) {
            Lock::Record(records) => Some(records),
            _ => None,
        }
    }
}
