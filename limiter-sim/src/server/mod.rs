//! A modelled Redis or Valkey server: real commands, real Lua scripts, real error texts.
//!
//! A [`Node`] executes one [`Request`] at a time at the instant of its own clock, and answers with the
//! [`Reply`] that a real server of the chosen [`Version`] gives, byte for byte. It is made to be cloned and
//! hashed by a search: clones share what is large, and scripts run in Lua only until their behaviour for
//! the replies at hand is known.
//!
//! ```
//! use limiter_sim::server::{Config, Node, Reply, Request, Version};
//!
//! let mut node = Node::new(Config::new(Version::Redis70)).unwrap();
//! node.set_time(1_000);
//! let script = "return redis.call('INCRBY', KEYS[1], ARGV[1])";
//! assert_eq!(node.execute(1, &Request::new(["EVAL", script, "1", "hits", "5"])), Reply::Int(5));
//! assert_eq!(node.execute(1, &Request::new(["PTTL", "hits"])), Reply::Int(-1));
//! ```
//!
//! # How it fits into a simulator
//!
//! - [`Node::set_time`] moves the clock; keys expire, and who watches them notices.
//! - [`Node::take_effects`] hands out what an execution did to data, as one atomic batch; [`Node::apply`] does it
//!   on a replica, or while a log is loaded. [`Node::dataset`] and [`Node::restart_with`] are the snapshot and the
//!   restart.
//! - [`Node::data_hash`] and [`Node::session_hash`] are 128-bit fingerprints of all that matters later.
//! - [`Node::evictable`], [`Node::evict`], [`Node::flush_scripts`], [`Node::set_role`], [`Node::set_loading`] and
//!   [`Config::max_memory`] are the faults of a single node.
//! - [`Node::unmodelled`] and [`Node::undeclared_keys`] tell what a reply cannot: that the model does not know what
//!   was asked, and that a script touched keys that it had not named.
//!
//! # What is not modelled
//!
//! - RESP3, blocking commands (`WAIT` answers at once, as [`Config::acknowledging_replicas`] says), Pub/Sub, streams, bitmaps, HyperLogLog, geo, functions,
//!   modules, ACL rules and passwords, client tracking, `CLUSTER`, redirections, and more than one database. A real
//!   command that is missing gets the answer for an unknown one, and [`Node::unmodelled`] names it.
//! - The order of large collections: hashes and sets list their members as the compact encodings do. Past the
//!   encoding limits (and for sets with other than integers before Redis 7.2) real order is random. `KEYS` and
//!   `SCAN` list keys in byte order, and `SCAN` needs one call.
//! - Time within a command: a script sees one instant, also where Redis 6.2 and 7.0 let `TIME` and `PTTL` go on.
//! - The allocator (see [`Node::used_memory`]), sampled eviction, and lazy against active expiry: a primary removes
//!   an expired key at the instant at which its clock passes the deadline.
//! - `INCRBYFLOAT` beyond 10^18 or 17 decimals; `ZRANGE BYLEX`; `CONFIG` but for three settings.
//! - In Lua: `cmsgpack`, `struct`, the settings of `cjson`, `redis.setresp(3)`, `redis.set_repl` to less than all,
//!   `redis.acl_check_cmd`, `os.clock`, `setfenv`: using one is an error that names it. Without notice: `next`,
//!   `#`, `table.insert` and `setmetatable` on the server's own tables, addresses in `tostring` of tables, the
//!   random order of string keys in Valkey's tables, and the place that `coroutine.wrap` adds to errors.
//! - Which script that came by `EVAL` is forgotten first (the oldest here, the least recently used there).

mod bytes;
mod command;
mod config;
mod data;
mod dispatch;
mod effect;
mod extended;
mod fingerprint;
mod glob;
mod grisu;
mod keyspace;
mod lifecycle;
mod lua;
mod memory;
mod node;
mod number;
mod replication;
mod reply;
mod request;
mod session;
mod steering;
#[cfg(test)]
mod tests;
mod value;
mod version;

pub use bytes::Bytes;
pub use config::{Config, ConfigError, EvictionPolicy};
pub use effect::{Deadline, Effect};
pub use keyspace::{Entry, Keyspace};
pub use lifecycle::Dataset;
pub use lua::{ScriptMode, set_script_mode};
pub use node::{Node, Role};
pub use reply::Reply;
pub use request::{ParseError, Request, RequestCache};
pub use session::ConnectionId;
pub use value::{Hash, List, Set, SortedSet, Text, Value};
pub use version::Version;
