//! Rows of the failure matrix, at limit 5 with 16 workers.

use limiter_sim::{Exploration, Fault, Persistence, Scenario};

use crate::support::{exhaust, explore, scenario};

/// A search that ends once it has a violation and has not met a worse one for a while.
fn patiently(scenario: Scenario) -> Exploration {
    explore(&scenario.patience(20_000).max_states(150_000))
}

fn faulty(store: &str, fault: Fault) -> Scenario {
    scenario(store).fault(fault, 1)
}

#[test]
fn split_admits_all_16_under_contention_alone() {
    let found = exhaust(&scenario("split"));
    assert_eq!(
        (found.verdict, found.max_admitted, found.overspend),
        ("violated", 16, 11)
    );
    assert!(!found.immortal && found.recovered && found.waste == 0);
}

#[test]
fn a_client_that_ends_between_increment_and_deadline_leaves_a_counter_for_ever() {
    for store in [
        "split",
        "increment-then-expire",
        "increment-then-expire-spending",
    ] {
        let found = patiently(faulty(store, Fault::ClientCrash));
        assert_eq!(found.verdict, "violated", "{store}");
        assert!(found.immortal && !found.recovered, "{store}");
    }
}

fn is_proved_exact(scenario: &Scenario) {
    let found = exhaust(scenario);
    assert_eq!(
        (found.verdict, found.max_admitted),
        ("proved", 5),
        "{found:?}"
    );
    assert!(
        !found.immortal && found.recovered && found.vacuous.is_empty(),
        "{found:?}"
    );
    assert!(!found.not_applicable && found.token.is_none());
}

#[test]
fn atomic_window_is_proved_exact_under_contention_and_expiry() {
    is_proved_exact(&scenario("atomic-window"));
    is_proved_exact(&scenario("atomic-window").time_steps(1));
}

#[test]
fn atomic_window_is_proved_exact_where_clients_requests_or_scripts_are_lost() {
    for fault in [Fault::ClientCrash, Fault::LostRequest, Fault::ScriptFlush] {
        is_proved_exact(&faulty("atomic-window", fault));
    }
}

#[test]
fn atomic_window_is_proved_exact_where_the_server_restarts_with_all_that_it_had() {
    use Persistence::{AofAlways, AofEverysec, AofNo};
    for persistence in [AofAlways, AofNo, AofEverysec] {
        is_proved_exact(&faulty("atomic-window", Fault::Restart).persistence(persistence));
    }
}

#[test]
fn atomic_window_admits_exactly_10_where_all_state_is_lost_once() {
    for fault in [Fault::Evict, Fault::Restart, Fault::Failover] {
        let found = exhaust(&faulty("atomic-window", fault));
        assert_eq!(
            (found.verdict, found.max_admitted, found.overspend),
            ("violated", 10, 5),
            "{fault}"
        );
        assert!(!found.immortal && found.recovered, "{fault}");
        assert!(found.token.is_some());
    }
}

#[test]
fn atomic_window_admits_more_where_the_disk_lags_behind() {
    let everysec = || scenario("atomic-window").persistence(Persistence::AofEverysec);
    let killed = everysec()
        .fault(Fault::SlowDisk, 1)
        .fault(Fault::Restart, 1);
    let powerless = everysec().fault(Fault::PowerLoss, 1);
    for scenario in [killed, powerless] {
        let found = patiently(scenario);
        assert_eq!(found.verdict, "violated");
        assert!(
            (6..=10).contains(&found.max_admitted),
            "{}",
            found.max_admitted
        );
        assert!(found.vacuous.is_empty());
    }
}

#[test]
fn power_loss_loses_nothing_that_was_synchronised_before_each_reply() {
    is_proved_exact(&faulty("atomic-window", Fault::PowerLoss).persistence(Persistence::AofAlways));
}

#[test]
fn a_naive_retry_after_a_lost_reply_wastes_and_does_not_overspend() {
    let found = exhaust(&faulty("atomic-window-retry", Fault::LostReply));
    assert_eq!(
        (found.verdict, found.max_admitted, found.overspend),
        ("proved", 5, 0)
    );
    assert_eq!(found.waste, 1);
    assert!(found.recovered && found.vacuous.is_empty());
}

#[test]
fn check_on_a_lagging_replica_overspends_with_a_single_client_at_a_time() {
    let found = exhaust(
        &faulty("replica-read", Fault::StaleRead)
            .workers(1)
            .attempts(4)
            .limit(2),
    );
    assert_eq!((found.verdict, found.max_admitted), ("violated", 4));
}

#[test]
fn a_counter_made_anew_between_two_commands_never_ends() {
    let found = exhaust(
        &scenario("set-nx-then-increment")
            .workers(3)
            .limit(1)
            .time_steps(1),
    );
    assert!(found.immortal && !found.recovered, "{found:?}");
}
