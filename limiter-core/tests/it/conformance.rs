//! The conformance kit: it passes the right store, and catches each wrong one by the clause that it
//! breaks.

use limiter_core::conformance::{Form, Manual, Report, Verdict, check, clauses};

use crate::clock;
use crate::faults::Fault;
use crate::kept::KeptStore;

fn report(fault: Fault) -> Report {
    let clock = clock();
    let store = KeptStore::with(&clock, fault);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(check(&store, &Manual(clock), "kit"))
}

#[test]
fn a_store_that_keeps_the_contract_passes_every_clause() {
    let report = report(Fault::None);
    assert!(report.passed(), "{report}");
    let skipped = report
        .tests()
        .filter(|(_, _, verdict)| matches!(verdict, Verdict::Skipped(_)));
    assert_eq!(skipped.count(), 0, "{report}");
}

#[test]
fn every_wrong_store_is_caught_by_exactly_the_clause_that_it_breaks() {
    let mut missed = String::new();
    for (fault, clause) in Fault::ALL {
        let report = report(fault);
        if report.broken() != [clause] {
            missed += &format!("{fault:?} breaks {clause}, and was caught by {report}");
        }
    }
    assert!(missed.is_empty(), "{missed}");
}

#[test]
fn every_clause_catches_somebody() {
    for clause in clauses() {
        let caught = Fault::ALL
            .iter()
            .any(|(_, caught_by)| *caught_by == clause.name());
        assert!(caught, "nothing breaks {clause:?}");
    }
}

#[test]
fn names_are_stable_words_and_each_is_there_once() {
    let names: Vec<&str> = clauses().iter().map(|clause| clause.name()).collect();
    for (at, name) in names.iter().enumerate() {
        assert!(!names[..at].contains(name), "{name}");
        assert!(
            name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'),
            "{name}"
        );
    }
}

#[test]
fn only_what_is_not_offered_is_skipped() {
    let report = report(Fault::ServesTheUnoffered);
    for (name, form, verdict) in report.tests() {
        let skipped = matches!(verdict, Verdict::Skipped(_));
        let is_unkept = form.rule == limiter_core::RuleKind::Rolling && name != "not-offered";
        assert_eq!(skipped, is_unkept, "{name}, {form}");
    }
    assert!(Form::ALL.len() == 9 && report.to_string().contains("does not keep rolling"));
}
