//! What makes a search fast changes nothing that it finds.

use crate::scenario::{Persistence, Scenario};
use crate::subject::catalogue;
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
