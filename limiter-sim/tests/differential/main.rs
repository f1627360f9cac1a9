//! The modelled server against real ones: random sequences of commands and scripts must get the same
//! replies, byte for byte, and leave the same data.
//!
//! `LIMITER_SERVERS` lists the servers to compare with (`path:path:…`); the default is the `redis-server` on
//! the `PATH`. `LIMITER_CASES` is the number of sequences per server (default 300).

mod case;
mod client;
mod compare;
mod generator;
mod named;
mod random;
mod real;
mod regressions;
mod scripts;
