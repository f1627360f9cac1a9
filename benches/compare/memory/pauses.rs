//! The longest pauses of a caller while a million idle budgets are removed.

use std::thread::sleep;
use std::time::{Duration, Instant};

use limiter_core::{Cost, Policy};
use limiter_memory::MemoryStore;

use super::workloads::texts;
use crate::goals::{Bound, Goal};
use crate::page::table;

const MILLION: usize = 1_000_000;
const SHORT: Duration = Duration::from_millis(50);

fn policy(name: &str, length: Duration) -> Policy {
    let named = Policy::named(name).scope(name).limit(5);
    named
        .first_arrival(length)
        .build()
        .expect("within the bounds")
}

/// How long each of a million new budgets takes, in nanoseconds, sorted: where `idle` others have
/// ended before and are removed in passing.
fn times(idle: usize) -> Vec<u64> {
    let store = MemoryStore::builder()
        .capacity(1 << 22)
        .reserve(2 * MILLION);
    let store = store.build().expect("within the bounds");
    let (short, long) = (
        policy("short", SHORT),
        policy("long", Duration::from_secs(3600)),
    );
    let keys = texts(MILLION);
    for key in &keys[..idle] {
        let admitted = store.acquire_now(&short, key.as_str(), Cost::ONE);
        assert!(admitted.expect("there is room").is_admitted());
    }
    sleep(2 * SHORT);
    let mut times: Vec<u64> = keys
        .iter()
        .map(|key| {
            let begun = Instant::now();
            let admitted = store.acquire_now(&long, key.as_str(), Cost::ONE);
            assert!(admitted.expect("there is room").is_admitted());
            u64::try_from(begun.elapsed().as_nanos()).expect("short")
        })
        .collect();
    times.sort_unstable();
    times
}

pub(super) fn section() -> (String, Vec<Goal>) {
    eprintln!("memory: pauses");
    let (with, without) = (times(MILLION), times(0));
    let at = |times: &[u64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let row = |name: &str, times: &[u64]| {
        let shares = [0.5, 0.99, 0.9999, 1.0];
        let times = shares.map(|share| at(times, share).to_string());
        [vec![name.to_owned()], times.to_vec()].concat()
    };
    let rows = [
        row("a million idle budgets are removed", &with),
        row("nothing is removed", &without),
    ];
    let head = [
        "a million new budgets while",
        "p50 ns",
        "p99 ns",
        "p99.99 ns",
        "longest ns",
    ];
    let added_ns = at(&with, 0.9999) as f64 - at(&without, 0.9999) as f64;
    let goal = Goal {
        what: "µs added by removal, p99.99",
        work: "a million idle budgets".to_owned(),
        bound: Bound::AtMost(100.0),
        measured: added_ns / 1e3,
    };
    let section = format!("## Pauses\n\n{}", table(&head, &rows));
    (section, vec![goal])
}
