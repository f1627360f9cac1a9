//! A counterexample as a test to paste into a store's own repository.

use crate::scenario::{Persistence, Scenario};

/// A test that explores what `scenario` explores. It does not repeat the steps of the history that
/// was found: a store that was mended takes other ones.
pub(super) fn test(scenario: &Scenario) -> String {
    let parameters = &scenario.parameters;
    let mut knobs = format!(
        "        .workers({})\n        .attempts({})\n        .limit({})\n        .window_ms({})\n        \
         .cost({})\n        .time_steps({})\n",
        parameters.workers,
        parameters.attempts,
        parameters.limit,
        parameters.window_ms,
        parameters.cost,
        scenario.time_steps,
    );
    if scenario.persistence != Persistence::None {
        knobs += &format!(
            "        .persistence(Persistence::{:?})\n",
            scenario.persistence
        );
    }
    for (fault, times) in &scenario.faults.kinds {
        knobs += &format!("        .fault(Fault::{fault:?}, {times})\n");
    }
    if !scenario.faults.kinds.is_empty() {
        knobs += &format!("        .max_faults({})\n", scenario.faults.total);
    }
    let name = scenario
        .subject
        .name()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    format!(
        "#[test]\nfn {name}_keeps_its_promise() {{\n    // `store()` is yours: a StoreSubject, a Client \
         or a Script of limiter_sim.\n    let found = Scenario::new(Arc::new(store()))\n{knobs}        \
         .explore()\n        .unwrap();\n    assert_eq!(found.verdict, \"proved\", \"{{}}\", \
         found.story);\n    assert!(found.vacuous.is_empty() && !found.not_applicable);\n}}\n"
    )
}
