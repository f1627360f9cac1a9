//! A deterministic simulator that shows which rate limiters keep their budget, and which do not.
//!
//! ```
//! use std::sync::Arc;
//! use limiter_sim::{Client, Endpoint, Outcome, Scenario};
//!
//! let hits = Client::new("hits", "INCR and compare, with no deadline at all", |env| async move {
//!     let mut connection = env.connect(Endpoint::Primary);
//!     match redis::cmd("INCR").arg("hits").query_async::<u64>(&mut connection).await {
//!         Ok(total) if total <= env.parameters().limit => Outcome::Admitted,
//!         Ok(_) => Outcome::Denied,
//!         Err(_) => Outcome::Failed,
//!     }
//! });
//! let found = Scenario::new(Arc::new(hits)).workers(3).limit(2).explore()?;
//! assert_eq!((found.verdict, found.max_admitted, found.immortal), ("violated", 2, true));
//! # Ok::<(), String>(())
//! ```
//!
//! No schedule admits a third, so there is no overspend. But the counter has no deadline and denies
//! for ever, which is what *violated* says here.
//!
//! # The nouns
//!
//! A [`Subject`] is a rate limiter as its callers run it: a [`Client`] around any async function, a
//! [`StoreSubject`] around any `BudgetStore`, or one of the [`catalogue`]. A [`Scenario`] says how
//! many workers make how many attempts against which limit, which [`Fault`]s may happen how often,
//! and how histories are chosen. An [`Exploration`] is what was found: the figures, each the worst
//! over all histories that were seen, and a verdict.
//!
//! | verdict | meaning |
//! |---|---|
//! | `violated` | a history admits more than is promised, or leaves a counter that denies for ever, or leaves a budget that does not recover when the window has passed, or has answers without any fault that no order of its calls explains |
//! | `proved` | every state within the scenario's bounds was seen, and none does that |
//! | `bounded` | the search ended before every state was seen, and found none that does |
//!
//! What is promised is up to the subject: [`Subject::promise`]. Each rule has a judge of its own, a
//! pure function on the history of admissions and refunds and on the promise alone ([`judge`]):
//!
//! | promise | the judge's figure, against the limit (or burst) |
//! |---|---|
//! | first-arrival window | the fullest window, in the reading of the history that is kindest to the store |
//! | aligned window | the fullest window between two multiples of the length; where a clock was set, between any two cuts a length apart |
//! | rolling window | the most in any closed interval of the length |
//! | token bucket | the most that was out at once: admitted in an interval, less what came back in it |
//! | in-flight | the most leases that lasted at once |
//! | several budgets | of the budgets that every call is charged to, the one that is over by most |
//!
//! What was given back counts from the instant at which the store took it back.
//!
//! *Waste*, units charged that no caller was told about, is credit lost. It is reported and is no
//! violation. A fault that could happen and never had a consequence is listed as *vacuous*: then
//! the verdict says nothing about it. Where a fault cannot meet the subject at all, nothing is
//! explored (`not_applicable`).
//!
//! # How to read a counterexample
//!
//! `limiter-sim explore --store split --workers 2 --limit 1` finds this one:
//!
//! ```text
//!    at ms  actor  command              reply  told      stored                  admitted  waste
//! 1  0      w0     GET budget           nil                                      0         0
//! 2  0      w1     GET budget           nil                                      0         0
//! 3  0      w1     INCR budget          1                budget=1 for ever       0         0
//! 4  0      w1     PEXPIRE budget 1000  1      admitted  budget=1 until 1000 ms  1         0
//! 5  0      w0     INCR budget          2      admitted  budget=2 until 1000 ms  2         0
//!
//! limiter-sim replay ls1:split,w=2,a=1,l=1,ms=1000,c=1,p=none:w0~d3.w1~d3.w1~d1.w1~b6.w0~db:a9cabee4
//! ```
//!
//! There is a row for each step. A worker's step is a request that the server executes and the
//! reply that the worker gets; what a worker computes in between takes no step of its own, because
//! nobody could notice it. `time` moves, `world` fails. `stored` is what the server that takes
//! writes holds after the step, with its deadline in milliseconds from the beginning, and
//! `admitted` is the number of units whose callers were told yes so far. The history was shrunk:
//! steps that it does not need are left out, a worker goes on where it can, and workers are numbered
//! in the order in which they appear. The token in the last line is the same history for
//! `limiter-sim replay`. If the code has changed since, that says at which step it drifted. A token
//! holds the store's name, the numbers and the persistence, and no other settings; so it replays
//! stores of the catalogue on a server with the default settings.
//!
//! # What is modelled
//!
//! | part | what there is |
//! |---|---|
//! | client processes | real code: futures over [`SimConnection`], which implements the `redis` crate's `ConnectionLike`, and over [`SimClock`] |
//! | network | lost requests, lost and late replies, broken connections; each connection keeps its order |
//! | server | [`server`]: one node of Redis 6.2, 7.0 or 8.2 or Valkey 9.1 with its keys, deadlines, transactions and Lua scripts, compared with real servers reply by reply |
//! | memory | the eviction of any key, a full server, a limit with the eviction policies of Redis |
//! | disk | nothing, snapshots, and an append-only file under its three policies; a kill of the process, a slow fsync, a loss of power |
//! | replication | a failover at any prefix of the writes, an old primary that goes on accepting them, one replica that clients read |
//! | clocks | of each server and of each client process: jumps past a deadline and back by a window |
//! | judges | overspend of every rule, several budgets and refunds included; immortal counters, recovery, waste; without faults, an order of the calls |
//!
//! # Limitations
//!
//! *Proved* is a statement about this model within the bounds of the scenario, not about a data
//! centre.
//!
//! - **Hashes.** States are told apart by 128-bit hashes. A collision would hide a state; below
//!   2^30 states its chance is below 2^-68.
//! - **Bounds.** Workers, attempts, faults and time steps are as many as the scenario says. Nothing
//!   is proved about more.
//! - **One history.** All callers ask for the same cost, of one budget or of the same budgets. Where
//!   there are several, all are judged on the one history of admissions. A subject that does not say
//!   what it promises, and every script, is judged as a first-arrival window.
//! - **A script that never returns** is stopped after 10,000,000 instructions of its own. One call of a
//!   library function counts as one, so a pattern that backtracks for ever is not stopped; nor is it by a
//!   real server.
//! - **Waste** is counted where a client sends for itself. What a driver sends for several (the store
//!   `coalescing`) is charged to no one of them, so what it charges in vain does not show as waste.
//! - **Renewals** of leases are not judged: no subject renews.
//! - **Time** stands still unless it is moved: to a deadline that somebody could notice, or 1 ms
//!   past it. A bucket has such an instant for each call's worth that comes back, 16 at most. A
//!   command, a time-out and a restart take no time. Without `time_steps` no window ends.
//! - **A client must be a function of what crosses its seam.** Ambient time, randomness and threads
//!   are not controlled. Where they change what it does, the exploration fails and says "drift";
//!   where they do not show in its requests, it cannot know.
//! - **Connections** behave like the `redis` crate's connection manager: after a break there is one
//!   error, then a new connection. A connection that is opened is always accepted. How
//!   `limiter-redis` itself connects and reconnects is not simulated; its tests on real servers
//!   look at that.
//! - **Downtime** is not modelled but as a server without memory, which refuses every write until
//!   it has memory again: that is how a store becomes *unavailable* here (`out-of-memory`). A server that was killed is back at once, and one that is
//!   promoted is there at once: no client is refused, and none is answered `LOADING`. Who was
//!   connected gets one connection error.
//! - **Replication** is a log of which a replica has some prefix. `WAIT` takes no time, and is always
//!   answered what [`Config`](server::Config) says: 0, or that the replica that a failover promotes
//!   has it. After a restart or a promotion, what was acknowledged before binds no replica any more.
//!   An old primary misses its replica after 11 s (`min-replicas-to-write` of 1); until then, and
//!   without a split, one replica counts as good. The replica that clients read has everything
//!   unless `stale-read` stops it, and is not the one that is promoted.
//! - **Files** are never damaged.
//! - **Memory.** The fault `evict` may take any key, whatever the policy. Under a memory limit in
//!   [`Config`](server::Config) the first evictable key in byte order goes, and no other choice is
//!   explored.
//! - **One primary.** Clusters, their slots and redirections, and sentinels are not modelled.
//! - **Clocks** jump; they do not drift. A promoted replica has the reference clock, and clocks do
//!   not differ at the beginning.
//! - **Linearizability** is looked for in 200 random histories without faults, where there can be
//!   none: that proves nothing about the others. It is not looked for where something is given back,
//!   nor where a subject says that it may answer otherwise ([`Subject::unordered`]): a share of a
//!   limit, a bucket that is judged as a window, a script.
//! - **Numbers that a store reports**, waits, `remaining` and totals, are not judged: only whether
//!   it admitted.
//! - **The server** lacks commands and details, which [`server`] lists. A real command that it
//!   lacks, when it is asked for, ends the exploration with an error that names it.

mod choose;
#[doc(hidden)]
pub mod cli;
mod fingerprint;
pub mod judge;
#[doc(hidden)]
pub mod measure;
mod process;
mod reality;
mod report;
mod scenario;
mod search;
pub mod server;
mod subject;
mod threads;
mod trace;
mod world;

pub use judge::Promise;
pub use process::{Attempt, Endpoint, Env, Outcome, Program, SimClock, SimConnection};
pub use report::Exploration;
pub use scenario::{Parameters, Persistence, Scenario, Search};
#[doc(hidden)]
pub use subject::Call;
pub use subject::{
    Charges, Client, Promises, Script, StoreSubject, Subject, Uses, catalogue, named,
};
pub use world::Fault;
