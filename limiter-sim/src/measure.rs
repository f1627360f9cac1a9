//! Searches without their reports, to be measured.

use crate::scenario::Scenario;
use crate::search;

/// What a search did.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Distinct states.
    pub states: u64,
    /// Histories that were followed to their end.
    pub executions: u64,
    /// Ends of histories: complete, or in a state that was seen before.
    pub paths: u64,
    /// Steps taken.
    pub steps: u64,
}

/// Searches `scenario`, and tells no story. Uses as many threads as [`Scenario::threads`] says.
///
/// # Panics
/// Where it cannot be explored.
pub fn search(scenario: &Scenario) -> Counts {
    let explored = search::explore(scenario, &|_| ()).expect("it can be explored");
    let findings = explored.findings;
    Counts {
        states: findings.states,
        executions: findings.executions,
        paths: findings.paths,
        steps: findings.steps,
    }
}
