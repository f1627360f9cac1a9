//! Tests of the tests: for every fault a check that it does what it should, and a broken fault that
//! the check must notice.

use super::simulation::narrow;
use super::{Action, Fault, Way, World};
use crate::report::Exploration;
use crate::scenario::{Persistence, Scenario};
use crate::subject::named;

/// The step that is taken in place of a chosen one.
pub(crate) type Mutant = fn(&World, Action) -> Action;

/// A step that changes nothing.
const NOTHING: Action = Action::NodeClock { node: 0, by_ms: 0 };

fn explored(scenario: &Scenario, mutant: Option<Mutant>) -> Exploration {
    let scenario = Scenario {
        mutant,
        ..scenario.clone()
    };
    scenario.explore().expect("client code does not drift")
}

/// What must hold of a scenario.
type Check = fn(&Exploration) -> bool;

/// That the check holds, and that it notices the mutant.
fn is_tested(scenario: &Scenario, check: Check, mutant: Mutant) {
    let right = explored(scenario, None);
    assert!(check(&right), "{right:?}");
    let wrong = explored(scenario, Some(mutant));
    assert!(!check(&wrong), "the broken fault goes unnoticed: {wrong:?}");
}

fn scenario(store: &str, fault: Fault) -> Scenario {
    let store = named(store).expect("in the catalogue");
    Scenario::new(store).workers(5).limit(2).fault(fault, 1)
}

fn admits_the_limit_twice(found: &Exploration) -> bool {
    found.max_admitted == 2 * found.limit
}

fn admits_more_than_the_limit(found: &Exploration) -> bool {
    found.overspend > 0
}

fn is_not_vacuous(found: &Exploration) -> bool {
    found.vacuous.is_empty()
}

/// How many effects the log has.
fn all(world: &World) -> u32 {
    world.log.as_ref().map_or(0, |log| narrow(log.len()))
}

/// Whatever was to get lost on the way gets through.
fn through(_: &World, action: Action) -> Action {
    match action {
        Action::Go { process, lane, .. } => Action::Go {
            process,
            lane,
            way: Way::Through,
        },
        other => other,
    }
}

#[test]
fn an_eviction_that_removes_nothing_is_noticed() {
    let mutant: Mutant = |_, action| match action {
        Action::Evict { .. } => NOTHING,
        other => other,
    };
    let scenario = scenario("atomic-window", Fault::Evict);
    is_tested(&scenario, admits_the_limit_twice, mutant);
    is_tested(&scenario, is_not_vacuous, mutant);
}

#[test]
fn a_restart_that_keeps_all_is_noticed() {
    let scenario = scenario("atomic-window", Fault::Restart);
    is_tested(
        &scenario,
        admits_the_limit_twice,
        |world, action| match action {
            Action::Restart { node, .. } => Action::Restart {
                node,
                kept: all(world),
            },
            other => other,
        },
    );
}

#[test]
fn a_power_loss_that_keeps_all_is_noticed() {
    let scenario =
        scenario("atomic-window", Fault::PowerLoss).persistence(Persistence::AofEverysec);
    is_tested(
        &scenario,
        admits_more_than_the_limit,
        |world, action| match action {
            Action::PowerLoss { node, .. } => Action::PowerLoss {
                node,
                kept: all(world),
            },
            other => other,
        },
    );
}

#[test]
fn a_slow_disk_that_is_as_fast_as_ever_is_noticed() {
    let scenario = scenario("atomic-window", Fault::SlowDisk).persistence(Persistence::AofEverysec);
    let killed = scenario.fault(Fault::Restart, 1);
    is_tested(
        &killed,
        admits_more_than_the_limit,
        |world, action| match action {
            Action::SlowDisk => NOTHING,
            Action::Restart { node, .. } if world.slow_from.is_none() => Action::Restart {
                node,
                kept: all(world),
            },
            other => other,
        },
    );
}

#[test]
fn a_failover_that_loses_nothing_is_noticed() {
    let scenario = scenario("atomic-window", Fault::Failover);
    is_tested(
        &scenario,
        admits_the_limit_twice,
        |world, action| match action {
            Action::Failover { .. } => Action::Failover {
                received: all(world),
            },
            other => other,
        },
    );
}

#[test]
fn a_split_brain_whose_old_primary_stops_at_once_is_noticed() {
    let scenario = scenario("atomic-window", Fault::SplitBrain);
    is_tested(
        &scenario,
        admits_more_than_the_limit,
        |world, action| match action {
            Action::SplitBrain { .. } => Action::Failover {
                received: all(world),
            },
            other => other,
        },
    );
}

#[test]
fn a_clock_jump_that_moves_no_clock_is_noticed() {
    let scenario = scenario("atomic-window", Fault::ClockJump);
    is_tested(
        &scenario,
        admits_the_limit_twice,
        |_, action| match action {
            Action::NodeClock { .. } => NOTHING,
            other => other,
        },
    );
}

#[test]
fn a_replica_that_never_lags_is_noticed() {
    let scenario = scenario("replica-read", Fault::StaleRead)
        .workers(1)
        .attempts(4);
    is_tested(
        &scenario,
        admits_more_than_the_limit,
        |_, action| match action {
            Action::Stall => NOTHING,
            other => other,
        },
    );
}

#[test]
fn a_crash_after_which_the_client_goes_on_is_noticed() {
    let scenario = scenario("increment-then-expire", Fault::ClientCrash);
    is_tested(
        &scenario,
        |found| found.immortal,
        |world, action| match action {
            Action::Crash { .. } => NOTHING,
            other => through(world, other),
        },
    );
}

#[test]
fn a_lost_reply_that_arrives_is_noticed() {
    let scenario = scenario("atomic-window-retry", Fault::LostReply);
    is_tested(&scenario, |found| found.waste == 1, through);
}

#[test]
fn a_lost_request_that_arrives_is_noticed() {
    let scenario = scenario("fail-open", Fault::LostRequest);
    is_tested(&scenario, admits_more_than_the_limit, through);
}

#[test]
fn a_late_reply_that_is_in_time_is_noticed() {
    is_tested(
        &scenario("split", Fault::LateReply),
        is_not_vacuous,
        through,
    );
}

#[test]
fn a_full_memory_that_has_room_is_noticed() {
    let scenario = scenario("fail-open", Fault::OutOfMemory);
    is_tested(
        &scenario,
        admits_more_than_the_limit,
        |_, action| match action {
            Action::Full { .. } => NOTHING,
            other => other,
        },
    );
}

#[test]
fn a_script_flush_that_flushes_nothing_is_noticed() {
    let scenario = scenario("atomic-window", Fault::ScriptFlush);
    is_tested(&scenario, is_not_vacuous, |_, action| match action {
        Action::FlushScripts { .. } => NOTHING,
        other => other,
    });
}
