//! What each way to fail admits while the primary is away: while it has no memory, and refuses every
//! write.

use limiter_sim::Fault;

use crate::support::{exhaust, scenario};

#[test]
fn while_the_primary_is_away_a_fallback_adds_its_share_for_each_process() {
    for (workers, attempts, limit) in [(1, 4, 1), (2, 3, 1), (2, 3, 2), (3, 2, 2)] {
        let away = scenario("failure-fallback")
            .workers(workers)
            .attempts(attempts)
            .limit(limit)
            .fault(Fault::OutOfMemory, 1);
        assert_eq!(
            exhaust(&away).max_admitted,
            limit + workers as u64,
            "{workers} × {attempts}"
        );
    }
}

#[test]
fn a_fallback_adds_one_share_for_each_error_until_every_process_has_used_its_own() {
    for fault in [Fault::LostRequest, Fault::LostReply] {
        for (errors, added) in [(0, 0), (1, 1), (2, 2), (3, 2)] {
            let failing = scenario("failure-fallback").workers(2).attempts(3).limit(2);
            let found = exhaust(&failing.fault(fault, errors));
            assert_eq!(found.max_admitted, 2 + added, "{errors} × {fault}");
        }
    }
}

#[test]
fn while_the_primary_is_away_refusing_adds_nothing_and_admitting_adds_everything() {
    for (store, most) in [
        ("fail-closed", 2),
        ("circuit", 2),
        ("deadline", 2),
        ("fail-open", 6),
    ] {
        let away = scenario(store).workers(3).attempts(2).limit(2);
        let found = exhaust(&away.fault(Fault::OutOfMemory, 1));
        assert_eq!(found.max_admitted, most, "{store}");
    }
}

#[test]
fn an_answer_after_its_deadline_is_waste() {
    let late = scenario("deadline")
        .workers(2)
        .limit(1)
        .fault(Fault::LateReply, 1);
    let found = exhaust(&late.clone());
    assert_eq!((found.verdict, found.waste), ("proved", 0));
    let found = exhaust(&late.time_steps(1));
    assert_eq!((found.verdict, found.waste), ("proved", 1));
}

#[test]
fn an_open_circuit_lets_its_budget_recover() {
    for fault in [Fault::OutOfMemory, Fault::Restart, Fault::Failover] {
        let found = exhaust(
            &scenario("circuit")
                .workers(2)
                .attempts(2)
                .limit(1)
                .fault(fault, 1),
        );
        assert!(found.recovered, "{fault}: {}", found.story);
    }
}
