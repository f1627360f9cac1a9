//! A shared budget store on Redis and Valkey: one atomic script per decision.

mod answer;
#[cfg(feature = "tokio")]
mod builder;
mod classify;
mod key;
#[cfg(feature = "tokio")]
mod reconnecting;
#[cfg(feature = "cluster")]
mod redirecting;
mod refusal;
mod reply;
mod script;
pub mod scripts;
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
