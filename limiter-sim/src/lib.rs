//! Placeholder until its first vertical step.

pub mod server;
