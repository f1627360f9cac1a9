//! A fault that does nothing is never a silent pass.

use limiter_sim::{Exploration, Fault, Persistence, Scenario, catalogue};

use crate::support::{exhaust, explore, scenario};

/// Whether the fault has a consequence in a small scenario of `store`; a slow disk has one only
/// where a kill comes in the middle of it.
fn bites(store: &str, fault: Fault) -> bool {
    let scenario = scenario(store)
        .workers(3)
        .attempts(2)
        .limit(2)
        .max_states(20_000);
    let explored = explore(&match fault {
        Fault::SlowDisk => scenario
            .persistence(Persistence::AofEverysec)
            .fault(Fault::Restart, 1)
            .fault(fault, 1),
        _ => scenario.fault(fault, 1),
    });
    !explored.not_applicable && !explored.vacuous.contains(&fault)
}

#[test]
fn every_fault_bites_for_some_store() {
    for fault in Fault::ALL {
        let stores = catalogue();
        assert!(
            stores.iter().any(|store| bites(store.name(), *fault)),
            "{fault} never bites"
        );
    }
}

#[test]
fn every_fault_bites_for_every_store_that_can_meet_it() {
    for store in catalogue() {
        for fault in Fault::ALL.iter().filter(|fault| store.can_meet(**fault)) {
            assert!(
                bites(store.name(), *fault),
                "{fault} does not bite {}",
                store.name()
            );
        }
    }
}

fn is_not_applicable(scenario: &Scenario) {
    let explored = explore(scenario);
    assert!(explored.not_applicable, "{explored:?}");
    assert_eq!(
        (explored.states, explored.executions),
        (0, 0),
        "nothing is explored"
    );
    assert!(explored.story.contains("cannot meet"), "{}", explored.story);
}

#[test]
fn a_fault_of_a_part_that_the_store_does_not_use_is_not_applicable() {
    let unused = [
        ("memory-per-worker", Fault::Evict),
        ("memory-per-worker", Fault::LostReply),
        ("memory-partitioned", Fault::Failover),
        ("split", Fault::ScriptFlush),
        ("split", Fault::StaleRead),
        ("atomic-window", Fault::StaleRead),
    ];
    for (store, fault) in unused {
        is_not_applicable(&scenario(store).workers(2).fault(fault, 1));
    }
}

#[test]
fn a_slow_disk_is_not_applicable_where_nothing_is_synchronised_every_second() {
    for persistence in Persistence::ALL {
        let slow = scenario("atomic-window")
            .workers(2)
            .persistence(persistence);
        let slow = slow.fault(Fault::SlowDisk, 1);
        if persistence != Persistence::AofEverysec {
            is_not_applicable(&slow);
        }
    }
}

fn is_vacuous(scenario: &Scenario, fault: Fault) -> Exploration {
    let explored = exhaust(scenario);
    assert!(!explored.not_applicable);
    assert_eq!(explored.vacuous, [fault]);
    explored
}

#[test]
fn a_slow_disk_without_a_kill_is_vacuous() {
    let slow = scenario("atomic-window")
        .workers(2)
        .persistence(Persistence::AofEverysec);
    is_vacuous(&slow.fault(Fault::SlowDisk, 1), Fault::SlowDisk);
}

#[test]
fn a_script_flush_that_nobody_comes_after_is_vacuous() {
    // One call caches the script; the flush after it meets nobody.
    let alone = scenario("atomic-window")
        .workers(1)
        .fault(Fault::ScriptFlush, 1);
    is_vacuous(&alone, Fault::ScriptFlush);
}

#[test]
fn an_eviction_where_nothing_is_ever_stored_is_vacuous() {
    let nothing = scenario("atomic-window")
        .workers(2)
        .limit(0)
        .fault(Fault::Evict, 1);
    assert_eq!(is_vacuous(&nothing, Fault::Evict).max_admitted, 0);
}

#[test]
fn a_fault_that_may_happen_no_times_is_vacuous() {
    is_vacuous(
        &scenario("split").workers(2).fault(Fault::Evict, 0),
        Fault::Evict,
    );
    let none_in_all = scenario("split")
        .workers(2)
        .fault(Fault::Evict, 1)
        .max_faults(0);
    is_vacuous(&none_in_all, Fault::Evict);
}
