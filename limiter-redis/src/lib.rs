//! A shared budget store on Redis and Valkey: one atomic script per decision.

mod answer;
mod classify;
mod key;
mod refusal;
mod reply;
mod script;
pub mod scripts;
mod store;

pub use key::{DEFAULT_PREFIX, HashTags};
pub use store::RedisStore;
