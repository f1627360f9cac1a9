//! The list of clauses. Whatever is in it is checked, on every store.

use std::fmt;
use std::pin::Pin;

use super::clauses::{counting, edges, ids, refunds, rules, several, times};
use super::subject::{Checked, Subject};
use super::{Form, Passage};
use crate::{Capabilities, RuleKind};

type Test = for<'a> fn(&'a Subject<'a>) -> Pin<Box<dyn Future<Output = Checked> + Send + 'a>>;

/// One clause of the contract, with its test.
pub struct Clause {
    name: &'static str,
    promise: &'static str,
    forms: fn(Form) -> bool,
    needs: Needs,
    test: Test,
}

/// What a test needs besides the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    SeveralCharges,
    RequestIds,
    Resets,
    ClockThatCanBeSetBack,
}

impl Clause {
    /// Its name, in lower case with hyphens: stable.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it promises.
    pub fn promise(&self) -> &'static str {
        self.promise
    }

    pub(super) fn applies(&self, form: Form) -> bool {
        (self.forms)(form)
    }

    /// Why it is not checked. Only what a store does not declare to offer can be left out.
    pub(super) fn skipped(
        &self,
        form: Form,
        offered: &Capabilities,
        time: &dyn Passage,
    ) -> Option<String> {
        // What is not kept must be refused: that is a clause too.
        let unkept = form.not_kept(offered).filter(|_| self.name != NOT_OFFERED);
        let missing = match self.needs {
            Needs::SeveralCharges if offered.max_charges < 2 => Some("takes one charge at a time"),
            Needs::RequestIds if !offered.request_ids => Some("remembers no requests"),
            Needs::Resets if !offered.resets => Some("offers no resets"),
            Needs::ClockThatCanBeSetBack if time.is_real() => Some("real time is not set back"),
            _ => None,
        };
        unkept.or(missing.map(str::to_owned))
    }

    pub(super) async fn run(&self, subject: &Subject<'_>) -> Checked {
        (self.test)(subject).await
    }
}

impl fmt::Debug for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clause({}: {})", self.name, self.promise)
    }
}

const NOT_OFFERED: &str = "not-offered";

fn all(_form: Form) -> bool {
    true
}

fn windows(form: Form) -> bool {
    form.rule.has_windows()
}

fn refundable_windows(form: Form) -> bool {
    form.rule.has_windows() && form.refundable
}

fn receipts(form: Form) -> bool {
    form.gives_receipts()
}

fn settled(form: Form) -> bool {
    form.refundable
}

fn leases(form: Form) -> bool {
    form.rule == RuleKind::InFlight
}

macro_rules! clauses {
    ($($name:expr, $forms:ident, $needs:ident, $test:path, $promise:literal;)+) => {
        /// Every clause of the contract that a test can see.
        pub fn clauses() -> &'static [Clause] {
            const ALL: &[Clause] = &[$(Clause {
                name: $name,
                promise: $promise,
                forms: $forms,
                needs: Needs::$needs,
                test: |subject| Box::pin($test(subject)),
            }),+];
            ALL
        }
    };
}

clauses! {
    "atomic", all, Nothing, counting::atomic,
        "of many that ask at once, the limit is admitted";
    "inert", all, Nothing, counting::inert,
        "a denial changes no count and no deadline";
    "exact-accounting", windows, Nothing, counting::exact_accounting,
        "in one window each running total is reported once";
    "peek", all, Nothing, counting::peek,
        "looking tells what is left, and changes nothing";
    "never", all, Nothing, counting::never,
        "a cost above the limit is never admitted, and told so; one that equals it is";
    "changed-limits", all, Nothing, counting::changed_limits,
        "a changed limit holds from the next acquire, over what was charged before";
    "bounded-numbers", all, Nothing, edges::bounded_numbers,
        "the largest limits and costs are counted to the unit";
    "identities", all, Nothing, edges::identities,
        "any bytes name a budget of their own";
    "keys", all, Nothing, edges::keys,
        "other units, scopes and lengths are other budgets; other names are not";
    "dropped", all, Nothing, edges::dropped,
        "a future that is dropped has charged its cost or nothing";
    NOT_OFFERED, all, Nothing, edges::not_offered,
        "what is not offered is invalid, and charges nothing";
    "rule", all, Nothing, rules::rule,
        "credit comes back when the time rule says, not before";
    "anchored", windows, Nothing, times::anchored,
        "only the first admission sets a window's deadline";
    "honest-wait", all, Nothing, times::honest_wait,
        "a denial says when this cost can be admitted: not earlier, not later";
    "deadline-always", all, Nothing, times::deadline_always,
        "whatever was charged has a deadline, and is gone after it";
    "store-time", all, ClockThatCanBeSetBack, times::store_time,
        "time that steps back gives no credit";
    "all-or-nothing", all, SeveralCharges, several::all_or_nothing,
        "where one budget denies, none is charged";
    "names-every-denial", all, SeveralCharges, several::names_every_denial,
        "a denial lists every budget that denied, and no other";
    "refund", receipts, Nothing, refunds::refund,
        "what is given back can be spent again";
    "settle", settled, Nothing, refunds::settle,
        "a settled receipt gives back the rest";
    "refund-once", refundable_windows, Nothing, refunds::refund_once,
        "a charge is given back once";
    "refund-late", receipts, Nothing, refunds::refund_late,
        "what has come back by itself is not given back again";
    "refund-own-window", refundable_windows, Nothing, refunds::refund_own_window,
        "a refund credits only the window that was charged";
    "refund-keeps-deadline", refundable_windows, Nothing, refunds::refund_keeps_deadline,
        "a refund moves no window's deadline";
    "renew", leases, Nothing, refunds::renew,
        "a renewed lease lasts a full length from then on";
    "renew-lost", leases, Nothing, refunds::renew_lost,
        "a lease that has ended or was released is not renewed";
    "request-id", all, RequestIds, ids::request_id,
        "a repeat returns the first admission and charges nothing";
    "request-id-other", all, RequestIds, ids::request_id_other,
        "the same id for other budgets or costs is invalid";
    "request-id-denied", all, RequestIds, ids::request_id_denied,
        "a denial is not remembered";
    "request-id-life", all, RequestIds, ids::request_id_life,
        "a record lasts as long as was stated";
    "request-id-refunded", receipts, RequestIds, ids::request_id_refunded,
        "a repeat after a refund is invalid";
    "request-id-refund-once", receipts, RequestIds, ids::request_id_refund_once,
        "receipts that a repeat returned again give back once";
    "reset", all, Resets, edges::reset,
        "a reset budget is as if it had never been used";
}
