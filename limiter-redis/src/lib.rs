//! A shared budget store on Redis and Valkey: one atomic script per decision.
//!
#![cfg_attr(feature = "tokio", doc = "```no_run")]
#![cfg_attr(not(feature = "tokio"), doc = "```ignore")]
//! # async fn example() -> Result<(), limiter_core::Error> {
//! use std::time::Duration;
//! use limiter_core::{BudgetStoreExt, Cost, Decision, Policy};
//! use limiter_redis::RedisStoreBuilder;
//!
//! let store = RedisStoreBuilder::url("redis://127.0.0.1").connect().await?;
//! let minute = Duration::from_secs(60);
//! let log_in = Policy::named("log-in").scope("POST /session").limit(5).first_arrival(minute).build()?;
//! match store.acquire_one(&log_in, "alice", Cost::ONE).await? {
//!     Decision::Admitted(_) => { /* do the work */ }
//!     Decision::Denied(denial) => println!("try again: {:?}", denial.wait()),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # The nouns
//!
//! A [`RedisStore`] keeps budgets behind a connection: any
//! [`ConnectionLike`](redis::aio::ConnectionLike) that can be cloned. `RedisStoreBuilder` makes the
//! ordinary ones: `ReconnectingConnection` to one server, or to the primary that sentinels name, and
//! `RedirectingConnection` to a cluster. The [`scripts`] are what is sent: a first-arrival window is a plain integer with a deadline, and
//! one execution compares, creates it with its deadline, and charges. [`HashTags`] say which
//! budgets lie in one slot of a cluster.
//!
//! It runs on Redis 6.2, 7.0 and 8.2 and on Valkey 9.1.
//!
//! # What an error says
//!
//! | kind | where it comes from |
//! |---|---|
//! | *unavailable* | the server refused (`LOADING`, `READONLY`, `OOM`, `NOREPLICAS`, `CLUSTERDOWN`, `NOAUTH`, …), also from inside the script; nothing could be connected to. Nothing was charged |
//! | *uncertain* | every other I/O error, time-outs too; a reply that cannot be read; an error that only a proxy can have made |
//! | *corrupt* | a value that the script does not write, another type, no deadline. It is read before anything else, so also where the cost is above the limit. Nothing was charged, and nothing is healed: delete the key, or set its deadline |
//! | *invalid* | more than one charge, a prefix with braces, an address that cannot be one |
//!
//! A [peek](limiter_core::BudgetStore::peek) charges nothing whatever happens, so what would be
//! *uncertain* for an acquire is *unavailable* for it.
//!
//! # Features
//!
//! | feature | adds | costs |
//! |---|---|---|
//! | `tokio` (default) | `RedisStoreBuilder`, `ReconnectingConnection` | `futures-util`; a tokio runtime when connecting |
//! | `cluster` | Redis Cluster: `connect_cluster`, `RedirectingConnection` | `redis/cluster-async` (`rand`, `log`) |
//! | `tls-rustls` | `rediss://` URLs | `rustls` with `ring` |
//!
//! Without features the store needs no runtime, timer or randomness of its own. (The `redis` crate
//! compiles its asynchronous half only together with a runtime's adapter, so `tokio` is compiled
//! all the same.)
//!
//! # Limitations
//!
//! - A decision is atomic on one live server. That is not a ceiling across the loss of what the
//!   server holds: a budget that is evicted, flushed, lost in a restart without persistence or in a
//!   failover before it was replicated starts anew, and its limit can be spent again.
//! - So set `maxmemory-policy noeviction`: then a full server refuses new budgets, and forgets no
//!   old one. Give limits a server, or at least a memory limit, of their own.
//! - `appendonly yes` makes a restart keep the counts, up to what had not been written; replicas and
//!   `min-replicas-to-write` make a failover lose less. Neither makes it lose nothing.
//! - Deadlines follow the server's clock. A clock that jumps forward ends windows early.
//! - After *uncertain*, and after a dropped future, the charge may have been applied. Nothing is
//!   sent again, so a lost reply costs credit until the window ends, and never gives any.
//! - A replica answers peeks, and denies, by what it has received so far.
//! - A proxy must pass scripts through whole, and must not resend them.

mod acquire;
mod answer;
#[cfg(feature = "tokio")]
mod builder;
mod classify;
mod form;
mod give_back;
mod key;
mod look;
mod outcome;
mod place;
#[cfg(feature = "tokio")]
mod reconnecting;
#[cfg(feature = "cluster")]
mod redirecting;
mod refusal;
mod reply;
mod script;
pub mod scripts;
#[cfg(feature = "tokio")]
mod sentinel;
mod store;
#[cfg(feature = "tls-rustls")]
mod tls;

#[cfg(feature = "tokio")]
pub use builder::RedisStoreBuilder;
pub use key::{DEFAULT_PREFIX, HashTags};
#[cfg(feature = "tokio")]
pub use reconnecting::ReconnectingConnection;
#[cfg(feature = "cluster")]
pub use redirecting::RedirectingConnection;
pub use store::RedisStore;
