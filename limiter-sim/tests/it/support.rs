//! What the tests share.

use std::sync::Arc;

use limiter_sim::{Exploration, Fault, Scenario, Subject, named};

/// A scenario of a store of the catalogue.
pub(crate) fn scenario(store: &str) -> Scenario {
    Scenario::new(subject(store))
}

/// A store of the catalogue.
pub(crate) fn subject(store: &str) -> Arc<dyn Subject> {
    named(store).unwrap_or_else(|| panic!("{store} is in the catalogue"))
}

/// Explores, and expects that every state was seen.
pub(crate) fn exhaust(scenario: &Scenario) -> Exploration {
    let exploration = explore(scenario);
    assert!(exploration.exhausted, "{exploration:?}");
    exploration
}

/// Explores.
pub(crate) fn explore(scenario: &Scenario) -> Exploration {
    scenario
        .explore()
        .unwrap_or_else(|error| panic!("{scenario:?}: {error}"))
}

/// The ways to lose the whole state of a store on one server. Each happens without persistence.
pub(crate) const LOSSES: [Fault; 4] = [
    Fault::Evict,
    Fault::Restart,
    Fault::Failover,
    Fault::ClockJump,
];
