//! The seam between this crate and whoever provides threads: dashmap, parking_lot and std in what
//! is shipped, loom's own types under `--cfg loom`.
//!
//! Both sides offer the same few things with the same guard semantics: a [`Map`] of shards, each
//! behind a lock that many may read or one may write; a mutex; atomics. Everything above this
//! module is the shipped code on both sides. loom therefore sees every order in which threads can
//! take the locks and touch the atomics, but not the inside of dashmap, hashbrown or parking_lot,
//! and never two shards of one map; of
//! what lies behind plain mutexes it sees two shards.

#[cfg(not(loom))]
mod dash;
#[cfg(loom)]
mod model;

#[cfg(not(loom))]
pub(crate) use dash::{
    AtomicU64, AtomicUsize, Map, Mutex, MutexGuard, Reading, Writing, dated_shards,
};
#[cfg(loom)]
pub(crate) use model::{
    AtomicU64, AtomicUsize, Map, Mutex, MutexGuard, Reading, Writing, dated_shards,
};

pub(crate) use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Keeps what many cores write away from what they only read: two lines, because a core fetches
/// them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);
