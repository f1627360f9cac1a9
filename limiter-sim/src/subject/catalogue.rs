//! The subjects that the command line knows.

use std::sync::Arc;

use super::{Subject, stores};

/// Every subject, in the order in which the matrix shows them: those that keep the promise on one
/// live server first, then those that only look as if they did.
pub fn catalogue() -> Vec<Arc<dyn Subject>> {
    vec![
        Arc::new(stores::atomic_window()),
        Arc::new(stores::atomic_window_retry()),
        Arc::new(stores::fail_closed()),
        Arc::new(stores::fail_open()),
        Arc::new(stores::watch_multi()),
        Arc::new(stores::split()),
        Arc::new(stores::replica_read()),
        Arc::new(stores::increment_then_expire()),
        Arc::new(stores::increment_then_expire_spending()),
        Arc::new(stores::set_nx_then_increment()),
        Arc::new(stores::client_clock_bucket()),
        Arc::new(stores::memory_per_worker()),
        Arc::new(stores::memory_partitioned()),
    ]
}

/// The subject of this name.
pub fn named(name: &str) -> Option<Arc<dyn Subject>> {
    catalogue()
        .into_iter()
        .find(|subject| subject.name() == name)
}
