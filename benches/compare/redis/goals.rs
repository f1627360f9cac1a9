//! What was aimed at, beside what was measured.

use super::remembered::Remembered;
use super::workloads::{COALESCING, Heavy, Keys, Outcome, PLAIN, RAW, Work};
use crate::page::table;

/// A bound on a ratio.
enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Bound {
    fn holds(&self, ratio: f64) -> bool {
        match self {
            Self::AtMost(bound) => ratio <= *bound,
            Self::AtLeast(bound) => ratio >= *bound,
        }
    }
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
        }
    }
}

fn row(what: &str, work: Work, bound: &Bound, ratio: f64) -> Vec<String> {
    let met = if bound.holds(ratio) { "yes" } else { "**no**" };
    vec![
        what.to_owned(),
        work.to_string(),
        bound.to_string(),
        format!("{ratio:.2}"),
        met.to_owned(),
    ]
}

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
        .map(|outcome| {
            let ratio = outcome.of(PLAIN).ratio_to(outcome.of(RAW));
            let what = "latency, `RedisStore` of raw";
            row(what, outcome.work, &Bound::AtMost(1.1), ratio)
        });
    let throughput = outcomes.iter().map(|outcome| {
        let ratio = outcome.of(PLAIN).ratio_to(outcome.of(COALESCING));
        let what = "speed, `CoalescingStore` of `RedisStore`";
        let bound = Bound::AtLeast(gain(outcome.work));
        row(what, outcome.work, &bound, ratio)
    });
    let remembered = remembered.iter().map(|one| {
        let what = "speed, `RememberingStore` of `RedisStore`";
        row(what, one.work, &Bound::AtLeast(50.0), one.gain())
    });
    let rows: Vec<Vec<String>> = latency.chain(throughput).chain(remembered).collect();
    let head = ["what", "work", "goal", "measured", "met"];
    format!("## Goals\n\n{}", table(&head, &rows))
}
