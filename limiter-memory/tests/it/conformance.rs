//! The whole contract, on a clock that is moved by hand and on the system's.

use limiter_core::TokioTimer;
use limiter_core::conformance::{Manual, Passage, Real, Report, Verdict, check};
use limiter_memory::MemoryStore;

use crate::{manual_clock, store_of};

fn report(store: &dyn limiter_core::BudgetStore, time: &dyn Passage) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_time().build().unwrap();
    let report = runtime.block_on(check(store, time, "memory"));
    println!("{report}");
    report
}

fn skipped(report: &Report) -> usize {
    let verdicts = report.tests().map(|(_, _, verdict)| verdict);
    verdicts
        .filter(|verdict| matches!(verdict, Verdict::Skipped(_)))
        .count()
}

#[test]
fn it_keeps_every_clause_under_every_rule() {
    let clock = manual_clock();
    let report = report(&store_of(10_000, &clock), &Manual(clock));
    assert!(report.passed(), "{report}");
    assert_eq!(skipped(&report), 0, "{report}");
}

#[test]
fn it_keeps_them_in_real_time() {
    let store = MemoryStore::new();
    let report = report(&store, &Real(TokioTimer::default()));
    assert!(report.passed(), "{report}");
    // Only what needs a clock that is set back: one test for each of nine forms.
    assert_eq!(skipped(&report), 9, "{report}");
}
