//! The Redis store where it will live.

mod standalone;
mod tls;
