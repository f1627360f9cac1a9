//! The contract of a shared budget: what may be spent, by whom, and what one decision on it means.
//!
//! ```
//! use std::time::Duration;
//! use limiter_core::{Acquire, Cost, Policy};
//!
//! let policy = Policy::named("log-in")
//!     .scope("POST /session")
//!     .limit(5)
//!     .first_arrival(Duration::from_secs(60))
//!     .build()?;
//! let request = Acquire::of(&policy, "alice", Cost::ONE);
//! // A `BudgetStore` answers it: `store.acquire(&request).await?`.
//! # let _ = request;
//! # Ok::<(), limiter_core::Error>(())
//! ```
//!
//! # The nouns
//!
//! A [`Policy`] is a unit, a scope, a [`Limit`] and a [`TimeRule`]. Applied to one [`Identity`] it
//! is a [`Budget`], which a store keeps under its [`BudgetKey`]. An [`Acquire`] asks one or several
//! budgets for units. The answer is a [`Decision`], admitted or denied, or an [`Error`], whose
//! [`ErrorKind`] says what is known to have happened. A [`BudgetStore`] decides; a [`Limiter`] binds
//! one to policies and says what its failure means. What can be given back comes with a [`Receipt`];
//! leases are held by a [`Permit`]. A [`RequestId`] makes a request safe to repeat.
//!
//! Wrappers change one thing about a store: [`DeadlineStore`], [`BoundedStore`], [`CircuitStore`],
//! [`PartitionedStore`], [`RememberingStore`], [`ShadowStore`]. Whoever writes a store builds on [`rule`].
//!
//! # Features
//!
//! | feature | adds | costs |
//! |---|---|---|
//! | `conformance` | the module `conformance`: the contract as a list of named tests, for authors of stores | nothing |
//! | `tokio` | `TokioTimer`, a [`Timer`] for [`DeadlineStore`] | the `tokio` crate with `time` |
//!
//! # Limitations
//!
//! - A decision is atomic on one live store. It is not a hard ceiling across eviction, restart or
//!   failover of whatever holds the counts: what was lost can be spent again.
//! - `remaining` is a snapshot, not a reservation. A [`Wait`] promises no capacity.
//! - After *uncertain* and after a dropped future, nobody knows whether the charge was applied.

mod acquire;
mod admission;
mod amount;
mod budget;
mod bytes;
mod capabilities;
mod check;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod decision;
mod denial;
mod error;
mod failure_mode;
mod identity;
mod limiter;
mod nonce;
mod permit;
mod policy;
mod receipt;
mod record;
mod request_id;
pub mod rule;
mod snapshot;
mod store;
#[cfg(feature = "tokio")]
mod tokio_timer;
mod wrap;

pub use acquire::Acquire;
pub use admission::{Admission, Authority, Grant};
pub use amount::{Cost, Limit, MAX_UNITS};
pub use budget::{Budget, BudgetKey, Charge};
pub use capabilities::{Capabilities, ClockOwner, Survival, Together};
pub use clock::{Clock, ManualClock, Sleep, SystemClock, Timer, Timestamp};
pub use decision::Decision;
pub use denial::{Denial, Refusal, Wait};
pub use error::{Error, ErrorKind};
pub use failure_mode::FailureMode;
pub use identity::Identity;
pub use limiter::Limiter;
pub use nonce::{CountingNonces, Nonce, Nonces};
pub use permit::{Permit, Permits, Releaser};
pub use policy::{KeySpace, Length, Policy, PolicyBuilder, RuleKind, RuleSet, Share, TimeRule};
pub use receipt::{Receipt, Refunded, Renewed, WindowIdentity};
pub use record::Record;
pub use request_id::{Remembered, RequestDigest, RequestId};
pub use snapshot::Snapshot;
pub use store::{BudgetStore, BudgetStoreExt};
#[cfg(feature = "tokio")]
pub use tokio_timer::TokioTimer;
pub use wrap::{
    BoundedStore, CircuitStore, DeadlineStore, Observer, PartitionedStore, RememberingStore,
    ShadowStore,
};
