//! Stores around a store: each changes one thing, and forwards the rest.

mod bounded;
mod circuit;
mod deadline;
mod partitioned;
mod remembering;
mod shadow;

pub use bounded::BoundedStore;
pub use circuit::CircuitStore;
pub use deadline::DeadlineStore;
pub use partitioned::PartitionedStore;
pub use remembering::RememberingStore;
pub use shadow::{Observer, ShadowStore};
