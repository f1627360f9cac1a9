//! The conformance kit: it passes the right store, and catches each wrong one by the clause that it
//! breaks.

use limiter_core::conformance::{Form, Manual, Report, Verdict, check, clauses};
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Decision, Error, RuleSet, Snapshot,
};

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

/// Denies everything, and says of itself that it keeps no rule.
#[derive(Debug)]
struct Modest;

impl std::fmt::Display for Modest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Modest")
    }
}

#[async_trait::async_trait]
impl BudgetStore for Modest {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        request.check(&self.capabilities(), self)?;
        unreachable!("it offers nothing")
    }

    async fn peek(&self, _: &Budget) -> Result<Snapshot, Error> {
        Err(Error::invalid("it offers nothing"))
    }

    fn capabilities(&self) -> Capabilities {
        let mut offered = Capabilities::in_process();
        offered.rules = RuleSet::NONE;
        offered
    }
}

#[test]
fn a_store_that_says_that_it_keeps_no_rule_has_not_passed() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let report = runtime.block_on(check(&Modest, &Manual(clock()), "kit"));
    assert!(report.broken().is_empty(), "{report}");
    assert!(!report.passed());
    assert!(report.to_string().contains("no rule"), "{report}");
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
