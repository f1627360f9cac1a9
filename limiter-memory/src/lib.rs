//! Shared budgets in the memory of one process: exact, sharded, bounded, checked with loom.
//!
//! ```
//! use std::time::Duration;
//! use limiter_core::{Cost, Policy};
//! use limiter_memory::MemoryStore;
//!
//! let store = MemoryStore::new();
//! let log_in = Policy::named("log-in")
//!     .scope("POST /session")
//!     .limit(5)
//!     .first_arrival(Duration::from_secs(60))
//!     .build()?;
//! let outcome = store.acquire_now(&log_in, "alice", Cost::ONE)?;
//! assert!(outcome.is_admitted());
//! # Ok::<(), limiter_core::Error>(())
//! ```
//!
//! # The nouns
//!
//! A [`MemoryStore`] is a [`BudgetStore`](limiter_core::BudgetStore) that keeps every time rule,
//! several charges at once, refunds and request ids; its [`MemoryStoreBuilder`] chooses capacity,
//! clock, hasher and shards. Where no `async` is needed, [`acquire_now`](MemoryStore::acquire_now)
//! asks the budget of [`Whose`] it is and answers with an [`Outcome`], and
//! [`decide_now`](MemoryStore::decide_now) decides any request.
//!
//! # What it keeps, and for how long
//!
//! A first-arrival budget takes one entry of 32 bytes in a hash table and one record of 8 bytes in an
//! expiry queue; an identity of more than 15 bytes takes its own length besides. With the empty part
//! of the tables that is 50 to 80 bytes per budget.
//!
//! The other rules, and refundable windows, take an entry in a tree and a record in a heap: about 300
//! bytes, and besides that 16 for each millisecond in which a rolling window admitted something (at
//! most 4,097), 32 for each lease, 8 for each refund in a window (at most 1,024). They are removed
//! when the last instant at which they could deny is over.
//!
//! A budget whose window is over is removed in passing: each window that opens looks at two records
//! of what expires next in its shard. Nothing ever stops to look at everything, and no background
//! task is needed; [`remove_expired`](MemoryStore::remove_expired) gives back the rest when nothing
//! new arrives. A full store removes what is over before it refuses, and refuses only new budgets:
//! it answers *unavailable*, and never drops a live one.
//!
//! # Time
//!
//! The store never goes back. If its clock does, store time stands still until the clock has caught
//! up: windows neither end early nor open again, and new ones are dated by store time. Waits and
//! resets are told by what the clock shows, so they grow by as much as it stepped. Unless it is said
//! otherwise the clock is a [`CounterClock`].
//!
//! # Limitations
//!
//! - Other processes do not see it, and a restart forgets everything: each process then admits the
//!   full limit.
//! - An acquisition of several charges, under a request id or of another rule than the first-arrival
//!   window allocates and takes about a microsecond. All shards that it needs are locked together.
//! - A decision on an in-flight budget looks at each of its leases: about a nanosecond for each.
//! - Admissions are remembered under request ids up to
//!   [`remembered_requests`](MemoryStoreBuilder::remembered_requests); beyond that, acquisitions with
//!   an id are *unavailable*.
//! - A clock that jumps ahead ends windows early, and if it then steps back, denies for longer. The
//!   default clock does neither by more than microseconds.
//! - Memory that tables have grown to is kept for reuse. A table that grows holds its shard's lock:
//!   about a tenth of a millisecond for a million budgets in 128 shards, and avoided by
//!   [`reserve`](MemoryStoreBuilder::reserve).
//! - A full store looks at no more than eight records per shard for room. Where budgets were used
//!   again long after others expired, more outdated records than that can hide an expired budget;
//!   each refusal clears some of them, and `remove_expired` all.
//! - Work per new window grows with the number of different window *lengths* in use, by a few
//!   nanoseconds each.
//! - loom checks the store's own concurrent code (`--cfg loom` swaps map, locks and atomics). It
//!   does not see the inside of dashmap, hashbrown or parking_lot, and only one shard of each of the
//!   two tables of first-arrival windows (identities up to 15 bytes, and longer ones).

mod apply;
mod budget_store;
mod builder;
mod clock;
mod dated;
mod decide;
mod decimal;
mod expiry;
mod give_back;
mod hash;
mod key;
mod locks;
mod other;
mod outcome;
mod packed;
mod places;
mod queue;
mod store;
mod sweep;
mod sync;
mod table;
mod time;
mod together;
mod whose;

pub use builder::MemoryStoreBuilder;
pub use clock::CounterClock;
pub use outcome::Outcome;
pub use store::MemoryStore;
pub use whose::Whose;

pub(crate) use hash::{Hash, ShardHash};
pub(crate) use packed::{LATEST, PackedWindow};
