//! The subjects that the command line knows.

use std::sync::Arc;

use super::{Subject, stores};

/// Every subject: those that promise the first-arrival window, then those of the other rules and
/// forms.
pub fn catalogue() -> Vec<Arc<dyn Subject>> {
    let mut all = first_arrival_windows();
    all.extend(rules_and_forms());
    all
}

/// In the order in which the matrix shows them: those that keep the promise on one live server
/// first, then those that only look as if they did.
pub(crate) fn first_arrival_windows() -> Vec<Arc<dyn Subject>> {
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

/// What else a store of this project can be asked for, in the order in which the matrix shows it.
pub(crate) fn rules_and_forms() -> Vec<Arc<dyn Subject>> {
    vec![
        Arc::new(stores::aligned()),
        Arc::new(stores::rolling()),
        Arc::new(stores::token_bucket()),
        Arc::new(stores::in_flight()),
        Arc::new(stores::reserve_and_settle()),
        Arc::new(stores::two_budgets()),
        Arc::new(stores::request_id_retry()),
        Arc::new(stores::fallback()),
        Arc::new(stores::circuit()),
        Arc::new(stores::deadline()),
        Arc::new(stores::Coalescing),
        Arc::new(stores::remembered_denials()),
    ]
}

/// The subject of this name.
pub fn named(name: &str) -> Option<Arc<dyn Subject>> {
    catalogue()
        .into_iter()
        .find(|subject| subject.name() == name)
}
