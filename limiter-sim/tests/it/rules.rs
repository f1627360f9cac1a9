//! The other rules and forms: what their docs say comes out of the search, no more and no less.

use std::sync::Arc;

use limiter_sim::server::{Reply, Request};
use limiter_sim::{Env, Exploration, Fault, Parameters, Program, Promise, Scenario, Subject, Uses};

use crate::support::{LOSSES, exhaust, scenario, subject};

/// A subject, judged by another promise than its own: to measure what its rule does not limit.
#[derive(Debug)]
struct JudgedAsRolling(Arc<dyn Subject>);

impl Subject for JudgedAsRolling {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn about(&self) -> &str {
        self.0.about()
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        self.0.process(env)
    }

    fn promise(&self, parameters: &Parameters) -> Promise {
        Promise::Rolling {
            limit: parameters.limit,
            length_ms: parameters.window_ms,
        }
    }

    fn uses(&self) -> Uses {
        self.0.uses()
    }

    fn unordered(&self) -> Option<&str> {
        Some("it follows another rule")
    }

    fn charges(&self, request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
        self.0.charges(request, reply, parameters)
    }
}

fn most_in_a_length(store: &str, limit: u64) -> u64 {
    let judged = JudgedAsRolling(subject(store));
    let workers = 2 * usize::try_from(limit).unwrap() + 1;
    let scenario = Scenario::new(Arc::new(judged));
    exhaust(&scenario.workers(workers).limit(limit).time_steps(2)).max_admitted
}

#[test]
fn around_a_boundary_an_aligned_window_lets_twice_the_limit_through() {
    for limit in 1..=3 {
        assert_eq!(most_in_a_length("aligned", limit), 2 * limit);
    }
}

#[test]
fn around_its_end_a_first_arrival_window_lets_one_less_than_twice_the_limit_through() {
    // Its first admission opened it, and is a length and a millisecond older than the next window.
    for limit in 1..=3 {
        assert_eq!(most_in_a_length("atomic-window", limit), 2 * limit - 1);
    }
}

#[test]
fn after_a_pause_a_bucket_lets_its_burst_and_its_limit_through() {
    for limit in 1..=3 {
        assert_eq!(most_in_a_length("token-bucket", limit), 2 * limit);
    }
}

#[test]
fn a_rolling_window_lets_the_limit_through_in_every_interval() {
    for limit in 1..=3 {
        assert_eq!(most_in_a_length("rolling", limit), limit);
    }
}

const RULES: [&str; 4] = ["aligned", "rolling", "token-bucket", "in-flight"];

fn is_proved(found: &Exploration, most: u64) {
    assert_eq!(
        (found.verdict, found.max_admitted),
        ("proved", most),
        "{found:?}"
    );
    assert!(
        found.vacuous.is_empty() && found.recovered && !found.immortal,
        "{found:?}"
    );
}

#[test]
fn every_rule_is_proved_exact_while_nothing_is_lost() {
    for store in RULES {
        for steps in 0..=2 {
            is_proved(
                &exhaust(&scenario(store).workers(3).limit(2).time_steps(steps)),
                2,
            );
        }
        for fault in [
            Fault::LostReply,
            Fault::LateReply,
            Fault::ClientCrash,
            Fault::ScriptFlush,
        ] {
            is_proved(
                &exhaust(&scenario(store).workers(3).limit(2).fault(fault, 1)),
                2,
            );
        }
    }
}

#[test]
fn every_rule_admits_the_limit_once_more_for_each_loss() {
    for store in RULES
        .into_iter()
        .chain(["reserve-and-settle", "request-id-retry"])
    {
        for loss in LOSSES {
            for times in 0..=2 {
                let found = exhaust(&scenario(store).workers(4).limit(1).fault(loss, times));
                assert_eq!(
                    found.max_admitted,
                    1 + u64::from(times),
                    "{store}, {times} × {loss}"
                );
            }
        }
    }
}

#[test]
fn two_primaries_refill_a_bucket_twice() {
    // Each has a whole bucket, and in the length that passes each gets the limit back; the judge
    // gives it back once.
    let split = scenario("token-bucket")
        .workers(4)
        .limit(1)
        .fault(Fault::SplitBrain, 1);
    assert_eq!(exhaust(&split.clone()).max_admitted, 2);
    assert_eq!(exhaust(&split.time_steps(1)).max_admitted, 3);
}

#[test]
fn of_two_budgets_the_one_that_is_left_keeps_the_limit() {
    for (evictions, most) in [(0, 1), (1, 1), (2, 2)] {
        let found = exhaust(
            &scenario("two-budgets")
                .workers(4)
                .limit(1)
                .fault(Fault::Evict, evictions),
        );
        assert_eq!(found.max_admitted, most, "{evictions} evictions");
    }
    for loss in [Fault::Restart, Fault::Failover] {
        let found = exhaust(&scenario("two-budgets").workers(4).limit(1).fault(loss, 1));
        assert_eq!(found.max_admitted, 2, "{loss}");
    }
}

#[test]
fn what_is_given_back_can_be_spent_again_and_no_more() {
    let found = exhaust(&scenario("reserve-and-settle").workers(3).limit(2).cost(2));
    is_proved(&found, 2);
    let found = exhaust(&scenario("in-flight").workers(3).limit(1).time_steps(1));
    is_proved(&found, 1);
}

#[test]
fn a_request_that_is_repeated_under_its_id_charges_once() {
    for fault in [Fault::LostReply, Fault::LateReply, Fault::LostRequest] {
        let found = exhaust(
            &scenario("request-id-retry")
                .workers(3)
                .limit(2)
                .fault(fault, 1),
        );
        is_proved(&found, 2);
        assert_eq!(found.waste, 0, "{fault}");
        let naive = exhaust(
            &scenario("atomic-window-retry")
                .workers(3)
                .limit(2)
                .fault(fault, 1),
        );
        assert_eq!(naive.waste, u64::from(fault == Fault::LostReply), "{fault}");
    }
}

#[test]
fn a_repeat_whose_record_was_lost_wastes_and_the_loss_of_its_budget_alone_overspends() {
    let lost = |limit| {
        let scenario = scenario("request-id-retry").workers(4).limit(limit);
        let lost = scenario.fault(Fault::LostReply, 1).fault(Fault::Evict, 1);
        exhaust(&lost)
    };
    // Either key can be the one that goes: the record alone makes waste, the budget makes overspend.
    let found = lost(2);
    assert_eq!((found.waste, found.max_admitted), (1, 4));
    // A record lives for five minutes; a repeat after that is a new request.
    let late = scenario("request-id-retry")
        .workers(2)
        .limit(1)
        .fault(Fault::LostReply, 1);
    let late = exhaust(&late.time_steps(1));
    assert_eq!((late.verdict, late.waste), ("proved", 1));
}

#[test]
fn every_rule_linearizes() {
    for store in RULES
        .into_iter()
        .chain(["two-budgets", "request-id-retry", "atomic-window"])
    {
        let found = exhaust(&scenario(store).workers(3).limit(2).time_steps(2));
        assert!(found.linearizes, "{store}: {}", found.story);
    }
}
