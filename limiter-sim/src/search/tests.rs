//! What makes a search fast changes nothing that it finds.

use crate::report::Cell;
use crate::scenario::{Parameters, Persistence, Scenario};
use crate::subject::{catalogue, named};
use crate::world::Fault;

fn json(scenario: &Scenario, unmemoised: bool) -> String {
    let scenario = Scenario {
        unmemoised,
        ..scenario.clone()
    };
    let explored = scenario.explore().expect("client code does not drift");
    assert!(explored.exhausted, "{explored:?}");
    serde_json::to_string(&explored).expect("an exploration is plain data")
}

fn is_the_same_without_memory(scenario: &Scenario) {
    assert_eq!(json(scenario, false), json(scenario, true), "{scenario:?}");
}

#[test]
fn steps_looked_up_are_steps_taken() {
    for subject in catalogue() {
        let scenario = Scenario::new(subject).workers(3).attempts(2).limit(2);
        is_the_same_without_memory(&scenario);
        is_the_same_without_memory(&scenario.workers(2).time_steps(2));
    }
}

#[test]
fn steps_looked_up_are_steps_taken_under_every_fault() {
    for subject in catalogue() {
        for fault in Fault::ALL {
            let scenario = Scenario::new(subject.clone())
                .workers(3)
                .limit(1)
                .fault(*fault, 1);
            is_the_same_without_memory(&match fault {
                Fault::SlowDisk => scenario
                    .persistence(Persistence::AofEverysec)
                    .fault(Fault::Restart, 1),
                _ => scenario,
            });
        }
    }
}

#[test]
fn steps_looked_up_are_steps_taken_under_faults_together() {
    for subject in catalogue() {
        let scenario = Scenario::new(subject).workers(2).limit(1).time_steps(1);
        let scenario = scenario
            .fault(Fault::Evict, 1)
            .fault(Fault::LostReply, 1)
            .fault(Fault::Failover, 1);
        is_the_same_without_memory(&scenario.max_faults(2));
    }
}

/// The worst figures, and the faults that never had a consequence.
fn figures(scenario: &Scenario, unreduced: bool) -> String {
    let scenario = Scenario {
        unreduced,
        ..scenario.clone()
    };
    let found = scenario.explore().expect("client code does not drift");
    assert!(found.exhausted, "{found:?}");
    format!(
        "{} {} {} {} {} {:?} {}",
        found.verdict,
        found.max_admitted,
        found.waste,
        found.immortal,
        found.recovered,
        found.vacuous,
        found.not_applicable,
    )
}

#[test]
fn orders_and_states_that_are_left_out_show_nothing_else() {
    let parameters = Parameters {
        workers: 2,
        attempts: 2,
        limit: 1,
        ..Parameters::default()
    };
    for max_faults in [1, 2] {
        for cell in Cell::all(&parameters, max_faults, u64::MAX) {
            let scenario = cell.scenario.patience(u64::MAX);
            let (reduced, whole) = (figures(&scenario, false), figures(&scenario, true));
            let store = scenario.subject.name();
            assert_eq!(
                reduced, whole,
                "{store} under {}, {max_faults} faults",
                cell.row
            );
        }
    }
}

#[test]
fn faults_of_several_kinds_are_reduced_as_well() {
    // The others have too many states without the reductions.
    for store in [
        "atomic-window",
        "atomic-window-retry",
        "fail-open",
        "fail-closed",
    ] {
        let subject = named(store).expect("in the catalogue");
        let scenario = Scenario::new(subject).workers(3).limit(2).attempts(2);
        let scenario = scenario
            .fault(Fault::Evict, 2)
            .fault(Fault::LostReply, 2)
            .fault(Fault::Failover, 2)
            .max_faults(2);
        assert_eq!(
            figures(&scenario, false),
            figures(&scenario, true),
            "{store}"
        );
    }
}
