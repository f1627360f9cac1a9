//! What the store promises, one file per subject.
#![cfg(not(loom))]
#![allow(
    missing_docs,
    reason = "tests are named after the promise that they check"
)]

mod allocations;
mod capacity;
mod conformance;
mod contract;
mod edges;
mod model;
mod model_together;
mod regressions;
mod removal;
mod threads;
mod together;

use std::time::Duration;

use limiter_core::{Clock, Cost, ManualClock, Policy, Timestamp, Wait};
use limiter_memory::{MemoryStore, Outcome};

const START_MS: u64 = 1_700_000_000_000;

fn manual_clock() -> ManualClock {
    ManualClock::at(Timestamp::from_millis(START_MS))
}

fn store_of(capacity: usize, clock: &ManualClock) -> MemoryStore<ManualClock> {
    let builder = MemoryStore::builder().capacity(capacity).shards(2);
    builder.clock(clock.clone()).build().unwrap()
}

/// `limit` units per `length_ms`, in a scope of its own, so that tests share no budgets.
fn policy(scope: &str, limit: u64, length_ms: u64) -> Policy {
    Policy::named("tested")
        .scope(scope)
        .limit(limit)
        .first_arrival(Duration::from_millis(length_ms))
        .build()
        .unwrap()
}

fn cost(units: u64) -> Cost {
    Cost::new(units).unwrap()
}

fn admitted(total: u64, remaining: u64, resets_in_ms: u64) -> Outcome {
    let resets_in = Duration::from_millis(resets_in_ms);
    Outcome::Admitted {
        total,
        remaining,
        resets_in,
    }
}

fn denied(remaining: u64, wait_ms: u64) -> Outcome {
    let wait = Wait::For(Duration::from_millis(wait_ms));
    Outcome::Denied { remaining, wait }
}

fn never(remaining: u64) -> Outcome {
    let wait = Wait::Never;
    Outcome::Denied { remaining, wait }
}

fn advance(clock: &ManualClock, ms: u64) {
    clock.advance(Duration::from_millis(ms));
}

fn set_back(clock: &ManualClock, ms: u64) {
    let shown = clock.now().as_millis() - ms;
    clock.set(Timestamp::from_millis(shown));
}
