//! What is counted.

#[path = "../support/mod.rs"]
mod support;

use limiter_core::{Error, FailureMode, Limiter, ShadowStore};
use limiter_memory::MemoryStore;
use limiter_observe::{ObservedStore, Observing};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};

use support::{Broken, ask, policy};

/// The counters after `work`, each as `name{labels} value`, and the names of all histograms.
fn told(work: impl FnOnce()) -> Vec<String> {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, work);
    let mut told: Vec<String> = snapshotter
        .snapshot()
        .into_vec()
        .into_iter()
        .map(|(key, _, _, value)| {
            let labels = key
                .key()
                .labels()
                .map(|label| format!("{}={}", label.key(), label.value()));
            let name = key.key().name();
            let labels = labels.collect::<Vec<_>>().join(",");
            match value {
                DebugValue::Counter(count) => format!("{name}{{{labels}}} {count}"),
                DebugValue::Histogram(values) => format!("{name}{{{labels}}} of {}", values.len()),
                DebugValue::Gauge(_) => unreachable!("there is none"),
            }
        })
        .collect();
    told.sort();
    told
}

#[test]
fn decisions_are_counted_by_policy_and_outcome() {
    let told = told(|| {
        let store = ObservedStore::new(MemoryStore::new());
        let limiter = Limiter::new(store, [policy("own", 2), policy("wide", 9)]).unwrap();
        for _ in 0..3 {
            let _ = ask(&limiter, 1).unwrap();
        }
        let _ = ask(&limiter, 10).unwrap();
    });
    assert_eq!(
        told,
        [
            "limiter_decisions_total{policy=own,outcome=admitted} 2",
            "limiter_decisions_total{policy=own,outcome=denied} 1",
            "limiter_decisions_total{policy=own,outcome=never} 1",
            "limiter_decisions_total{policy=wide,outcome=admitted} 2",
            "limiter_decisions_total{policy=wide,outcome=never} 1",
            "limiter_decisions_total{policy=wide,outcome=spared} 1",
            "limiter_store_seconds{store=MemoryStore} of 4",
        ]
    );
}

type Failure = (&'static str, fn() -> Error);

const FAILURES: [Failure; 3] = [
    ("unavailable", || Error::unavailable("away")),
    ("uncertain", || Error::uncertain("lost")),
    ("corrupt", || {
        Error::corrupt("foreign: key limiter:alice@example.org")
    }),
];

#[test]
fn failures_are_told_apart() {
    for (name, error) in FAILURES {
        let told = told(|| {
            let limiter =
                Limiter::new(ObservedStore::new(Broken(error)), [policy("p", 1)]).unwrap();
            assert!(ask(&limiter, 1).is_err());
        });
        let counted = format!("limiter_decisions_total{{policy=p,outcome={name}}} 1");
        assert_eq!(told[0], counted);
    }
}

#[test]
fn what_a_failure_mode_lets_through_is_counted_in_units() {
    let told = told(|| {
        let limiter = Limiter::new(Broken(FAILURES[0].1), [policy("p", 9)]).unwrap();
        let limiter = limiter
            .on_failure(FailureMode::Admit)
            .observed_by(Observing::failure_modes());
        for _ in 0..2 {
            assert!(ask(&limiter, 3).unwrap().is_admitted());
        }
    });
    assert_eq!(
        told,
        ["limiter_extra_units_total{policy=p,authority=failure-mode} 6"]
    );
}

#[test]
fn a_shadow_is_told_as_one() {
    let told = told(|| {
        let store = ShadowStore::new(MemoryStore::new(), Observing::shadow());
        let limiter = Limiter::new(store, [policy("p", 1)]).unwrap();
        for _ in 0..3 {
            assert!(ask(&limiter, 1).unwrap().is_admitted());
        }
    });
    assert_eq!(
        told,
        [
            "limiter_decisions_total{policy=p,outcome=shadow-admitted} 1",
            "limiter_decisions_total{policy=p,outcome=shadow-denied} 2",
        ]
    );
}
