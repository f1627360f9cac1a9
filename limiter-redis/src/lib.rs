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
//! `RedirectingConnection` to a cluster. A [`CoalescingStore`] combines concurrent calls on one store into
//! fewer scripts.
//! The [`scripts`] are what is sent: one execution reads and judges up to 16 budgets, and charges all of
//! them or none. [`HashTags`] say which budgets lie in one slot of a cluster, and so which can be charged
//! together; a [request id](limiter_core::RequestId) is remembered in the slot of its request, and means
//! something else in another.
//!
//! It runs on Redis 6.2, 7.0 and 8.2 and on Valkey 9.1.
//!
//! # What is stored
//!
//! One budget is one key, so that eviction cannot take half of it.
//!
//! | rule | form | deadline |
//! |---|---|---|
//! | first-arrival | an integer | the window's last millisecond |
//! | aligned | an integer | the first millisecond of the next window |
//! | either, refundable | a hash: charged, refunded, identity, and each refund, up to 1,024 | the same |
//! | rolling | a hash: an entry for each millisecond in which something was admitted, up to 4,097 of about 90 bytes | when nothing counts any more |
//! | token bucket | a string: used, fraction, instant | when it is full again |
//! | in-flight | a sorted set: a member of about 150 bytes for each permit | when the last lease is over |
//! | a request id | a string: what was asked and answered | its life |
//!
//! But for first-arrival windows the deadline is one millisecond after the last one in which the state can
//! deny: a server deletes a key whose deadline is not in the future, and Valkey does not even create it.
//!
//! # What an error says
//!
//! | kind | where it comes from |
//! |---|---|
//! | *unavailable* | the server refused (`LOADING`, `READONLY`, `OOM`, `NOREPLICAS`, `CLUSTERDOWN`, `NOAUTH`, …), also from inside the script; nothing could be connected to. Nothing was charged |
//! | *uncertain* | every other I/O error, time-outs too; a reply that cannot be read; an error that only a proxy can have made; a script that a user may run only half of ([`scripts`] says why nothing else fails in the middle) |
//! | *corrupt* | a value that the script does not write, another type, no deadline. It is read before anything else, so also where the cost is above the limit. Nothing was charged, and nothing is healed: delete the key, or set its deadline |
//! | *invalid* | budgets that [`HashTags`] put in several slots, a request id that was used for something else, a nonce that names a lease, a prefix with braces, an address that cannot be one |
//!
//! A [peek](limiter_core::BudgetStore::peek) charges nothing whatever happens, so what would be
//! *uncertain* for an acquire is *unavailable* for it.
//!
//! # Features
//!
//! | feature | adds | costs |
//! |---|---|---|
//! | `tokio` (default) | `RedisStoreBuilder`, `ReconnectingConnection` | a tokio runtime when connecting |
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
//! - A user needs every command of the scripts, `+eval +evalsha +unlink`, and those that the heads of the
//!   rules' files name: with some of the writes only, a window can be left without a deadline. It is
//!   then *corrupt* until it is reset.
//! - If the record of a request id alone is lost, a repeat charges again: credit lost, never extra
//!   credit. While a slot migrates, a request with an id can be *unavailable* (`TRYAGAIN`).
//! - A denial of a rolling window walks to the entry that it waits for: up to 4,097 of them.
//! - A replica answers peeks, and denies, by what it has received so far.
//! - A proxy must pass scripts through whole, and must not resend them.

mod acquire;
mod answer;
#[cfg(feature = "tokio")]
mod builder;
mod classify;
mod coalescing;
mod form;
mod give_back;
mod key;
mod look;
mod outcome;
mod place;
mod plain;
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
pub use coalescing::{CoalescingStore, Mixing};
pub use key::{DEFAULT_PREFIX, HashTags};
#[cfg(feature = "tokio")]
pub use reconnecting::ReconnectingConnection;
#[cfg(feature = "cluster")]
pub use redirecting::RedirectingConnection;
pub use store::RedisStore;
