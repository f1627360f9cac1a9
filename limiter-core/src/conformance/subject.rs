//! One store under one form, as a test of a clause sees it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Form, Passage};
use crate::{
    Acquire, Admission, Budget, BudgetStore, Charge, Cost, Decision, Denial, Error, Nonce, Policy,
    RequestId, RuleKind, Snapshot, Together,
};

/// What was seen that breaks a clause.
#[derive(Debug)]
pub(super) struct Failure(pub(super) String);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(format!("an error: {error}"))
    }
}

pub(super) type Checked = Result<(), Failure>;

/// Fails with a message unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::conformance::subject::Failure(format!($($message)+)));
        }
    };
}
pub(super) use ensure;

/// How long what is not to end during a test lasts: a day.
const LONG: Duration = Duration::from_secs(86_400);

#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) store: &'a dyn BudgetStore,
    pub(super) time: &'a dyn Passage,
    pub(super) form: Form,
    scope: String,
    used: AtomicU64,
}

impl<'a> Subject<'a> {
    pub(super) fn new(
        store: &'a dyn BudgetStore,
        time: &'a dyn Passage,
        form: Form,
        scope: String,
    ) -> Self {
        let used = AtomicU64::new(1);
        Self {
            store,
            time,
            form,
            scope,
            used,
        }
    }

    /// A policy whose windows, intervals, refills and leases outlast the test.
    pub(super) fn policy(&self, limit: u64) -> Result<Policy, Error> {
        self.form.policy(&self.scope, limit, LONG)
    }

    /// A policy of which the test sees the end.
    pub(super) fn short(&self, limit: u64) -> Result<Policy, Error> {
        self.form.policy(&self.scope, limit, self.length())
    }

    /// So many different budgets that the store can charge together, none of which another `test` has.
    pub(super) fn together(
        &self,
        test: u64,
        limit: u64,
        count: usize,
    ) -> Result<Vec<Budget>, Error> {
        let budget = |at: usize| match self.store.capabilities().together {
            Together::Any => Ok(Budget::of(&self.policy(limit)?, format!("{test} {at}"))),
            Together::OneIdentity | Together::BesideOneIdentity => {
                let scope = format!("{} {at}", self.scope);
                Ok(Budget::of(&self.form.policy(&scope, limit, LONG)?, test))
            }
        };
        (0..count).map(budget).collect()
    }

    /// How long that takes.
    pub(super) fn length(&self) -> Duration {
        Duration::from_millis(if self.time.is_real() { 600 } else { 1000 })
    }

    /// Lets time pass.
    pub(super) async fn pass(&self, duration: Duration) {
        self.time.pass(duration).await;
    }

    /// Waits, for aligned windows, until one of [`short`](Self::short) has just begun.
    pub(super) async fn at_the_start_of_a_window(&self) -> Checked {
        if self.form.rule == RuleKind::Aligned {
            let budget = Budget::of(&self.short(1)?, "waits for the next window");
            let admission = self.admit(&budget, 1).await?;
            self.pass(admission.grants()[0].resets_in).await;
        }
        Ok(())
    }

    /// A nonce that no other request of this test has. Tests never share a budget.
    pub(super) fn nonce(&self) -> Nonce {
        let count = self.used.fetch_add(1, Ordering::Relaxed);
        Nonce::from_bytes(u128::from(count).to_be_bytes())
    }

    /// A request id of this test's own.
    pub(super) fn id(&self, name: &str) -> Result<RequestId, Error> {
        let hash = crate::RequestDigest::of_text(&format!("{}/{name}", self.scope));
        RequestId::new(hash.as_bytes())
    }

    pub(super) fn request(&self, budget: &Budget, units: u64) -> Result<Acquire, Error> {
        let request = Acquire::one(budget.clone(), Cost::new(units)?);
        Ok(request.with_nonce(self.nonce()))
    }

    pub(super) fn requests(&self, budgets: &[&Budget], units: u64) -> Result<Acquire, Error> {
        let cost = Cost::new(units)?;
        let charges = budgets
            .iter()
            .map(|budget| Charge::new((*budget).clone(), cost));
        Ok(Acquire::all(charges)?.with_nonce(self.nonce()))
    }

    pub(super) async fn ask(&self, budget: &Budget, units: u64) -> Result<Decision, Error> {
        self.store.acquire(&self.request(budget, units)?).await
    }

    pub(super) async fn send(&self, request: &Acquire) -> Result<Admission, Failure> {
        match self.store.acquire(request).await? {
            Decision::Admitted(admission) => Ok(admission),
            Decision::Denied(denial) => Err(Failure(format!("denied: {denial:?}"))),
        }
    }

    pub(super) async fn admit(&self, budget: &Budget, units: u64) -> Result<Admission, Failure> {
        self.send(&self.request(budget, units)?).await
    }

    pub(super) async fn deny(&self, budget: &Budget, units: u64) -> Result<Denial, Failure> {
        match self.ask(budget, units).await? {
            Decision::Denied(denial) => Ok(denial),
            Decision::Admitted(_) => {
                let limit = budget.policy().limit();
                Err(Failure(format!(
                    "{units} admitted beyond the limit, {limit}"
                )))
            }
        }
    }

    /// Spends `units`, one by one.
    pub(super) async fn spend(&self, budget: &Budget, units: u64) -> Checked {
        for _ in 0..units {
            self.admit(budget, 1).await?;
        }
        Ok(())
    }

    pub(super) async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.store.peek(budget).await
    }

    /// Whether `found` is `expected`; on a real clock, where time went on, not above it.
    pub(super) fn is_about(&self, found: Duration, expected: Duration) -> bool {
        match self.time.is_real() {
            true => found <= expected && found + Duration::from_millis(400) >= expected,
            false => found == expected,
        }
    }
}
