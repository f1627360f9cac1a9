//! The store against a real private server: `REDIS_SERVER`, or `redis-server` on the path.

mod accounting;
#[cfg(feature = "cluster")]
mod cluster;
mod conformance;
mod connecting;
mod corrupt;
mod helpers;
mod model;
mod refusals;
mod scripts;
mod server;
