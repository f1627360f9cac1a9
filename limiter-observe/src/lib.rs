//! Rate limits observed: what was decided, how long the store took, what a failure mode let through.
//!
//! ```
//! use std::time::Duration;
//! use limiter_core::{Limiter, Policy};
//! use limiter_memory::MemoryStore;
//! use limiter_observe::{ObservedStore, Observing};
//!
//! let policy = Policy::named("search").scope("GET /search").limit(100);
//! let policy = policy.first_arrival(Duration::from_secs(60)).build()?;
//! let store = ObservedStore::new(MemoryStore::new());
//! let limiter = Limiter::new(store, [policy])?.observed_by(Observing::failure_modes());
//! # let _ = limiter;
//! # Ok::<(), limiter_core::Error>(())
//! ```
//!
//! # What is told
//!
//! | metric | kind | labels | what it is |
//! |---|---|---|---|
//! | `limiter_decisions_total` | counter | `policy`, `outcome` | one for each policy of each acquisition that a store answered |
//! | `limiter_store_seconds` | histogram | `store` | how long an acquisition waited for its store |
//! | `limiter_extra_units_total` | counter | `policy`, `authority` | units that a failure mode admitted: `failure-mode` beyond the budget, `fallback` out of a fallback's share |
//!
//! | `outcome` | meaning |
//! |---|---|
//! | `admitted` | charged |
//! | `denied` | this policy denied |
//! | `never` | this policy can never admit so much |
//! | `spared` | another policy of the same acquisition denied; this one was not charged |
//! | `unavailable` | not decided, nothing charged |
//! | `uncertain` | nobody knows whether it was charged |
//! | `corrupt`, `invalid` | foreign state, impossible request |
//! | `shadow-…` | the same behind a `ShadowStore`, which lets everything through |
//!
//! The same goes to `tracing`, target `limiter`: answers at `DEBUG`, what could not be decided and
//! what a failure mode admitted at `WARN`, in a span `acquire` with the names of the policies.
//!
//! Everything is told by policy. Identities are personal data and unbounded in number: they are
//! neither labels nor fields.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `metrics` (default) | the facade of the `metrics` crate; the application chooses an exporter |
//! | `tracing` (default) | spans and events of the `tracing` crate |

mod observing;
mod outcome;
mod store;

pub use observing::Observing;
pub use store::ObservedStore;
