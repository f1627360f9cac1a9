//! Tests of the contract's types from outside, named after the promises that they check.

mod bytes;
mod conformance;
mod faults;
mod kept;
mod limiter;
mod oracle;
mod policies;
mod records;
mod remembering;
mod wrappers;

use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{Cost, ManualClock, Policy, PolicyBuilder, Timestamp};

fn ms(ms: u64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn length(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

fn named(scope: &str, limit: u64) -> PolicyBuilder {
    Policy::named("tested").scope(scope).limit(limit)
}

fn clock() -> ManualClock {
    ManualClock::at(ms(1_700_000_000_000))
}

/// The answer of a future that needs no waiting.
fn now<T>(future: impl Future<Output = T>) -> T {
    future
        .now_or_never()
        .expect("it completes at the first poll")
}
