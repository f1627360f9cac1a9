//! The Redis store where it will live.

mod cluster;
mod sentinels;
mod standalone;
mod tls;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by each test that starts many servers: so many at once would only keep each other waiting.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
