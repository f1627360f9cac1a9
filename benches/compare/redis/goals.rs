//! What was aimed at on Redis.

use super::remembered::Remembered;
use super::workloads::{COALESCING, Heavy, Keys, Outcome, PLAIN, RAW, Work};
use crate::goals::{self, Bound, Goal};

/// The gain that combining should bring.
fn gain(work: Work) -> f64 {
    match (work.callers, work.keys, work.heavy) {
        (512, Keys::OneHot, _) => 2.5,
        (512, Keys::Many, Heavy::Denied) => 2.0,
        (512, Keys::Many, Heavy::Admitted) => 1.6,
        _ => 0.95,
    }
}

pub(super) fn section(outcomes: &[Outcome], remembered: &[Remembered]) -> String {
    let latency = outcomes
        .iter()
        .filter(|outcome| outcome.work.callers == 1)
        .map(|outcome| Goal {
            what: "latency, `RedisStore` of raw",
            work: outcome.work.to_string(),
            bound: Bound::AtMost(1.1),
            measured: outcome.of(PLAIN).ratio_to(outcome.of(RAW)),
        });
    let throughput = outcomes.iter().map(|outcome| Goal {
        what: "speed, `CoalescingStore` of `RedisStore`",
        work: outcome.work.to_string(),
        bound: Bound::AtLeast(gain(outcome.work)),
        measured: outcome.of(PLAIN).ratio_to(outcome.of(COALESCING)),
    });
    let remembered = remembered.iter().map(|one| Goal {
        what: "speed, `RememberingStore` of `RedisStore`",
        work: one.work.to_string(),
        bound: Bound::AtLeast(50.0),
        measured: one.gain(),
    });
    let goals: Vec<Goal> = latency.chain(throughput).chain(remembered).collect();
    goals::section(&goals)
}
