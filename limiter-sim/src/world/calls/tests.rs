//! Which stores linearize without faults, and which do not.

use super::first_that_does_not_linearize;
use crate::scenario::Scenario;
use crate::subject::{catalogue, named};

const HISTORIES: u64 = 200;

fn scenario(store: &str) -> Scenario {
    Scenario::new(named(store).expect("in the catalogue"))
}

fn linearizes(scenario: &Scenario) -> bool {
    let found = first_that_does_not_linearize(scenario, HISTORIES);
    found.expect("the model knows every command").is_none()
}

fn always_linearizes(store: &str) {
    for seed in 0..3 {
        for (workers, attempts, limit) in [(16, 1, 5), (4, 3, 3), (3, 4, 1), (2, 2, 0)] {
            for time_steps in 0..=3 {
                let scenario = scenario(store)
                    .workers(workers)
                    .attempts(attempts)
                    .limit(limit);
                let scenario = scenario.time_steps(time_steps).seed(seed);
                assert!(linearizes(&scenario), "{store}, {scenario:?}");
            }
        }
    }
}

#[test]
fn one_script_linearizes() {
    always_linearizes("atomic-window");
}

#[test]
fn an_optimistic_transaction_linearizes_where_it_ends_in_an_answer() {
    always_linearizes("watch-multi");
}

#[test]
fn costs_above_one_linearize_in_one_script() {
    let scenario = scenario("atomic-window")
        .workers(6)
        .attempts(2)
        .limit(7)
        .cost(3);
    assert!(linearizes(&scenario.time_steps(2)));
}

#[test]
fn one_worker_after_the_other_linearizes_whatever_the_store() {
    for store in [
        "split",
        "increment-then-expire",
        "increment-then-expire-spending",
        "memory-per-worker",
    ] {
        let scenario = scenario(store).workers(1).attempts(6).limit(2);
        assert!(linearizes(&scenario), "{store}");
    }
}

#[test]
fn counters_that_are_incremented_first_linearize_while_time_stands_still() {
    for store in [
        "increment-then-expire",
        "increment-then-expire-spending",
        "set-nx-then-increment",
    ] {
        let scenario = scenario(store).workers(6).attempts(2).limit(3);
        assert!(linearizes(&scenario), "{store}");
    }
}

#[test]
fn a_window_whose_deadline_comes_after_its_first_charge_does_not_linearize() {
    for store in ["increment-then-expire", "increment-then-expire-spending"] {
        let scenario = scenario(store)
            .workers(4)
            .attempts(2)
            .limit(2)
            .time_steps(2);
        assert!(!linearizes(&scenario), "{store}");
    }
}

#[test]
fn check_then_update_does_not_linearize() {
    assert!(!linearizes(&scenario("split").workers(4).limit(2)));
}

#[test]
fn memory_of_each_workers_own_does_not_linearize() {
    for store in ["memory-per-worker", "memory-partitioned"] {
        assert!(
            !linearizes(&scenario(store).workers(3).attempts(3).limit(2)),
            "{store}"
        );
    }
}

#[test]
fn these_stores_of_the_catalogue_do_not_linearize_under_contention_and_no_others() {
    let does_not = |store: &&str| !linearizes(&scenario(store));
    let stores = catalogue();
    let names: Vec<&str> = stores
        .iter()
        .map(|store| store.name())
        .filter(does_not)
        .collect();
    let expected = [
        "split",
        "replica-read",
        "memory-per-worker",
        "memory-partitioned",
    ];
    assert_eq!(names, expected);
}
