//! The store and its synchronous path.

use std::fmt;
use std::hash::BuildHasher;

use ahash::RandomState;
use limiter_core::rule::State;
use limiter_core::rule::first_arrival::Window;
use limiter_core::{
    Acquire, Budget, Capabilities, Clock, Cost, Decision, Error, Policy, RuleSet, Snapshot,
};

use crate::decide::{Ask, is_plain};
use crate::key::{LongKey, LongQuery, Query, ShortKey};
use crate::other::{Others, Records, key_of};
use crate::places::Places;
use crate::table::Table;
use crate::time::StoreTime;
use crate::{CounterClock, MemoryStoreBuilder, Outcome, Whose};

/// Budgets in this process's memory.
///
/// Everything about it is exact: of several threads that race for the last unit, one is admitted.
/// A decision takes one lock, that of the shard in which the budget lives, for one look-up; it
/// allocates only where a budget is new and its table has to grow, or its identity is longer than
/// 15 bytes. Share the store by reference or in an [`Arc`](std::sync::Arc).
///
/// The calls here block for as long as another thread holds the shard's lock, which is well below a
/// microsecond unless that thread is descheduled. The calls of [`BudgetStore`](limiter_core::BudgetStore)
/// are the same ones in the contract's form; their futures complete at the first poll.
///
/// `C` says what time it is, `S` hashes identities; both are chosen with [`builder`](Self::builder).
pub struct MemoryStore<C = CounterClock, S = RandomState> {
    pub(crate) time: StoreTime<C>,
    pub(crate) places: Places,
    pub(crate) hasher: S,
    pub(crate) short: Table<ShortKey>,
    pub(crate) long: Table<LongKey>,
    pub(crate) others: Others,
    pub(crate) record_places: Places,
    pub(crate) records: Records,
}

/// What every memory store offers.
pub(crate) const OFFERED: Capabilities = {
    let mut offered = Capabilities::in_process();
    offered.rules = RuleSet::ALL;
    offered.refunds = RuleSet::ALL;
    offered.request_ids = true;
    offered.resets = true;
    offered.max_charges = Acquire::MAX_CHARGES;
    offered
};

impl MemoryStore {
    /// A store on the system's clock, for up to 1,000,000 budgets.
    pub fn new() -> Self {
        Self::from_parts(Self::builder())
    }

    /// Chooses capacity, clock, hasher and shards.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder::new()
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl<C, S> MemoryStore<C, S> {
    /// The most budgets that it holds at once.
    pub fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// How many budgets it holds at the moment: live ones, and expired ones that were not removed
    /// yet. A call that is adding one counts already.
    pub fn len(&self) -> usize {
        self.places.taken()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStore<C, S> {
    pub(crate) fn from_parts(parts: MemoryStoreBuilder<C, S>) -> Self {
        Self {
            time: StoreTime::new(parts.clock),
            places: Places::new(parts.capacity),
            hasher: parts.hasher,
            short: Table::new(parts.shards, parts.reserve),
            long: Table::new(parts.shards, 0),
            others: Others::new(parts.shards),
            record_places: Places::new(parts.remembered),
            records: Records::new(parts.shards),
        }
    }

    /// Asks one budget for `cost` units: compares, and if admitted, charges, in one atomic step.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use limiter_core::{Cost, Policy};
    /// # use limiter_memory::{MemoryStore, Outcome};
    /// let store = MemoryStore::new();
    /// # let window = Duration::from_secs(60);
    /// let policy = Policy::named("search").scope("api").limit(2).first_arrival(window).build()?;
    /// let first = store.acquire_now(&policy, "alice", Cost::ONE)?;
    /// assert!(matches!(first, Outcome::Admitted { total: 1, remaining: 1, .. }));
    /// # Ok::<(), limiter_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// *Unavailable* where the budget is new and the store is full of live ones, and where the clock
    /// shows a year after 2247; *invalid* for refundable windows and in-flight budgets, which need a
    /// nonce: for those there is [`decide_now`](Self::decide_now). Nothing is charged in any of them.
    #[inline]
    pub fn acquire_now<'a>(
        &self,
        policy: &Policy,
        whose: impl Into<Whose<'a>>,
        cost: Cost,
    ) -> Result<Outcome, Error> {
        let whose = whose.into();
        let Some(ask) = Ask::new(policy, cost) else {
            let decision = self.decide_now(&Acquire::one(whose.budget(policy), cost))?;
            return Ok(Outcome::of(&decision));
        };
        let space = policy.key_space().id();
        match whose.short_key(space) {
            Some(key) => self.decide(&self.short, key, ask),
            None => whose.with_identity(|identity| {
                self.decide(&self.long, LongQuery::new(space, identity), ask)
            }),
        }
    }

    /// Decides any request: budgets of every rule, up to 16 of them all or nothing, under a request
    /// id if it has one.
    ///
    /// The shards of all its budgets are locked together, so nobody sees a part of it. One charge to
    /// a first-arrival window takes the fast path of [`acquire_now`](Self::acquire_now).
    ///
    /// # Errors
    /// *Unavailable* where the store has no room for a new budget or for what is to be remembered,
    /// and where the clock shows a year after 2247; *invalid* for a request that
    /// [`Acquire::check`] refuses, and for a request id that was used for something else. Nothing is
    /// charged in any of them.
    pub fn decide_now(&self, request: &Acquire) -> Result<Decision, Error> {
        if let ([charge], None) = (request.charges(), request.remembered()) {
            let budget = charge.budget();
            if is_plain(budget.policy()) {
                let outcome = self.acquire_now(budget.policy(), budget, charge.cost())?;
                return Ok(outcome.decision(budget));
            }
        }
        request.check(&OFFERED, self)?;
        self.decide_together(request)
    }

    /// Looks at one budget without changing it.
    ///
    /// # Errors
    /// *Unavailable* where the clock shows a year after 2247.
    pub fn peek_now<'a>(
        &self,
        policy: &Policy,
        whose: impl Into<Whose<'a>>,
    ) -> Result<Snapshot, Error> {
        let whose = whose.into();
        if !is_plain(policy) {
            return self.look_at_other(&whose.budget(policy));
        }
        let space = policy.key_space().id();
        match whose.short_key(space) {
            Some(key) => self.look(&self.short, key, policy),
            None => whose.with_identity(|identity| {
                self.look(&self.long, LongQuery::new(space, identity), policy)
            }),
        }
    }

    fn look<Q: Query>(
        &self,
        table: &Table<Q::Stored>,
        query: Q,
        policy: &Policy,
    ) -> Result<Snapshot, Error> {
        let hash = query.hash(&self.hasher);
        let shard = table.read(table.shard_of(hash));
        let moment = self.time.moment()?;
        let stored = shard.find(hash.in_shard(), |key| query.matches(key));
        let open = stored.filter(|window| !window.is_past(moment.now));
        let limit = policy.limit();
        Ok(match open.map(Window::from) {
            Some(window) => Snapshot {
                total: window.total,
                remaining: window.remaining(limit),
                resets_in: Some(moment.by_the_clock(window.resets_in(moment.now))),
            },
            None => Snapshot {
                total: 0,
                remaining: limit.get(),
                resets_in: None,
            },
        })
    }

    fn look_at_other(&self, budget: &Budget) -> Result<Snapshot, Error> {
        let (spot, _) = self.place_of(budget);
        let mut locks = self.lock(vec![spot]);
        let moment = self.time.moment()?;
        let key = key_of(budget);
        let stored = locks.others(spot).and_then(|others| others.get(&key));
        let stored = stored.and_then(|other| other.state());
        let seen = State::peek(stored, moment.now, budget)?;
        let resets_in = seen.resets_in.map(|reset| moment.by_the_clock(reset));
        Ok(Snapshot { resets_in, ..seen })
    }
}

/// Counts and settings; no identities.
impl<C: fmt::Debug, S> fmt::Debug for MemoryStore<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("len", &self.places.taken())
            .field("capacity", &self.places.capacity())
            .field("clock", &self.time)
            .finish_non_exhaustive()
    }
}

impl<C, S> fmt::Display for MemoryStore<C, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
