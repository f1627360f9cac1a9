//! The store against a real private server: `REDIS_SERVER`, or `redis-server` on the path.

mod accounting;
mod arithmetic;
#[cfg(feature = "cluster")]
mod cluster;
mod coalescing;
mod conformance;
mod connecting;
mod corrupt;
mod damage;
mod edges;
mod equal;
mod given_back;
mod helpers;
mod model;
mod reference;
mod refusals;
mod repeats;
mod scripts;
mod server;
mod several;
