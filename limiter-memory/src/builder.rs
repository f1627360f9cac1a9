//! What a store can be told when it is made.

use std::hash::BuildHasher;

use ahash::RandomState;
use limiter_core::{Clock, Error};

use crate::{CounterClock, MemoryStore};

/// Builds a [`MemoryStore`]; [`build`](Self::build) checks what it was told.
///
/// ```
/// use limiter_core::{ManualClock, Timestamp};
/// use limiter_memory::MemoryStore;
///
/// let store = MemoryStore::builder()
///     .capacity(10_000)
///     .clock(ManualClock::at(Timestamp::from_millis(0)))
///     .build()?;
/// assert_eq!(store.capacity(), 10_000);
/// # Ok::<(), limiter_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct MemoryStoreBuilder<C = CounterClock, S = RandomState> {
    pub(crate) capacity: usize,
    pub(crate) reserve: usize,
    pub(crate) remembered: usize,
    pub(crate) shards: usize,
    pub(crate) clock: C,
    pub(crate) hasher: S,
}

/// About 80 MB where identities are short.
const DEFAULT_CAPACITY: usize = 1_000_000;
/// About 30 MB where a request has one charge and its id is short.
const DEFAULT_REMEMBERED: usize = 100_000;
/// Enough that a shard of a million budgets grows in about a tenth of a millisecond; an empty store
/// takes about 64 KB.
const DEFAULT_SHARDS: usize = 128;
const MAX_SHARDS: usize = 16_384;

impl MemoryStoreBuilder {
    pub(crate) fn new() -> Self {
        Self {
            capacity: DEFAULT_CAPACITY,
            reserve: 0,
            remembered: DEFAULT_REMEMBERED,
            shards: DEFAULT_SHARDS,
            clock: CounterClock::new(),
            hasher: RandomState::new(),
        }
    }
}

impl<C, S> MemoryStoreBuilder<C, S> {
    /// The most budgets that the store holds at once; 1,000,000 by default. 0 is valid: such a store
    /// denies what is above its limit, and is *unavailable* for everything else.
    pub fn capacity(mut self, budgets: usize) -> Self {
        self.capacity = budgets;
        self
    }

    /// Allocates room for this many budgets of short identities (up to 15 bytes) at construction, so
    /// that no call has to wait for a table to grow: 0 by default, at most the capacity.
    pub fn reserve(mut self, budgets: usize) -> Self {
        self.reserve = budgets;
        self
    }

    /// The most admissions that are remembered under request ids at once; 100,000 by default. An
    /// acquisition with an id beyond that is *unavailable*; those without one go on.
    pub fn remembered_requests(mut self, requests: usize) -> Self {
        self.remembered = requests;
        self
    }

    /// How many locks share the budgets among them: a power of two from 2 to 16,384; 128 by default.
    /// A lock is held for one decision, or while its part of a table grows.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = shards;
        self
    }

    /// Who says what time it is; [`CounterClock`] by default. The store asks while it holds a lock,
    /// so the clock must not call the store.
    pub fn clock<D>(self, clock: D) -> MemoryStoreBuilder<D, S> {
        MemoryStoreBuilder {
            capacity: self.capacity,
            reserve: self.reserve,
            remembered: self.remembered,
            shards: self.shards,
            clock,
            hasher: self.hasher,
        }
    }

    /// How identities are hashed; by default with keys drawn at random for this store, so that
    /// nobody can choose identities that all meet in one place. A hasher with fixed keys (such as
    /// `ahash::RandomState::with_seeds`) makes the store's layout repeatable. Answers never depend
    /// on the hasher.
    pub fn hasher<T>(self, hasher: T) -> MemoryStoreBuilder<C, T> {
        MemoryStoreBuilder {
            capacity: self.capacity,
            reserve: self.reserve,
            remembered: self.remembered,
            shards: self.shards,
            clock: self.clock,
            hasher,
        }
    }
}

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStoreBuilder<C, S> {
    /// Checks everything and builds the store.
    ///
    /// # Errors
    /// *Invalid* for a number of shards that is out of bounds or not a power of two, and for a
    /// reserve above the capacity.
    pub fn build(self) -> Result<MemoryStore<C, S>, Error> {
        if !(2..=MAX_SHARDS).contains(&self.shards) || !self.shards.is_power_of_two() {
            return Err(Error::invalid(format!(
                "{} shards: allowed is a power of two from 2 to {MAX_SHARDS}",
                self.shards
            )));
        }
        if self.reserve > self.capacity {
            return Err(Error::invalid(format!(
                "a reserve of {} budgets: allowed is up to the capacity, {}",
                self.reserve, self.capacity
            )));
        }
        Ok(MemoryStore::from_parts(self))
    }
}
