//! What an admission says.

use std::time::Duration;

use smallvec::{SmallVec, smallvec};

use crate::{Receipt, RequestId, RuleKind};

/// Who admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Authority {
    /// The store of the budget: the admission was charged there.
    Store,
    /// A fallback store with a share of the limit, because the store could not decide.
    Fallback,
    /// Nobody: the store could not decide, and the limiter was told to admit then. This is extra
    /// allowance beyond the budget.
    FailureMode,
    /// Nobody: the store denied or failed, and a [`ShadowStore`](crate::ShadowStore) let it through.
    Shadow,
}

/// Every charge was applied, in one step.
#[derive(Debug)]
pub struct Admission {
    grants: SmallVec<[Grant; 1]>,
    authority: Authority,
    is_repeat: bool,
}

impl Admission {
    /// An admission by the store itself, with one grant per charge, in the order of the charges.
    pub fn new(grants: impl IntoIterator<Item = Grant>) -> Self {
        Self {
            grants: grants.into_iter().collect(),
            authority: Authority::Store,
            is_repeat: false,
        }
    }

    /// An admission of one charge by the store itself.
    pub fn of(grant: Grant) -> Self {
        Self {
            grants: smallvec![grant],
            authority: Authority::Store,
            is_repeat: false,
        }
    }

    /// An admission by a failure mode: it charged no store, so there are no grants.
    pub(crate) fn by_failure_mode() -> Self {
        Self::new([]).by(Authority::FailureMode)
    }

    /// An admission of what a store did not admit: it charged nothing.
    pub(crate) fn by_shadow() -> Self {
        Self::new([]).by(Authority::Shadow)
    }

    /// Takes out the receipts of one rule's budgets.
    pub(crate) fn take_receipts(&mut self, rule: RuleKind) -> Vec<Receipt> {
        let is_of_rule = |receipt: &Receipt| receipt.budget().policy().rule().kind() == rule;
        let mut taken = Vec::new();
        for grant in &mut self.grants {
            if grant.receipt.as_ref().is_some_and(is_of_rule) {
                taken.extend(grant.receipt.take());
            }
        }
        taken
    }

    pub(crate) fn by(mut self, authority: Authority) -> Self {
        self.authority = authority;
        self.map_receipts(|receipt| receipt.by(authority))
    }

    /// For stores: the same admission, remembered under `id`, which its receipts then carry.
    #[must_use]
    pub fn of_request(self, id: &RequestId) -> Self {
        self.map_receipts(|receipt| receipt.of_request(id))
    }

    /// For stores: an admission that was given before, under the same request id.
    #[must_use]
    pub fn as_repeat(mut self) -> Self {
        self.is_repeat = true;
        self
    }

    fn map_receipts(mut self, change: impl Fn(Receipt) -> Receipt) -> Self {
        for grant in &mut self.grants {
            grant.receipt = grant.receipt.take().map(&change);
        }
        self
    }

    /// One per charge, in the order of the charges; none where no store was charged.
    pub fn grants(&self) -> &[Grant] {
        &self.grants
    }

    /// The grants, to keep their receipts.
    pub fn into_grants(self) -> impl Iterator<Item = Grant> {
        self.grants.into_iter()
    }

    /// The receipts of all charges that can be given back.
    pub fn into_receipts(self) -> impl Iterator<Item = Receipt> {
        self.grants.into_iter().filter_map(|grant| grant.receipt)
    }

    /// Whether this admission was given before, under the same request id: nothing was charged this
    /// time, and the grants say what they said then.
    pub fn is_repeat(&self) -> bool {
        self.is_repeat
    }

    /// Who admitted.
    pub fn authority(&self) -> Authority {
        self.authority
    }
}

/// What one admitted charge did to its budget.
#[derive(Debug)]
pub struct Grant {
    /// Units charged so far, with this charge. In one window each total is reported by exactly one
    /// admission, also where charges are refunded: refunds are not subtracted. In a rolling
    /// interval what counts in it, in a bucket what has not come back yet, in flight the leases at
    /// this instant.
    pub total: u64,
    /// Units left at the instant of the decision. A snapshot, not a reservation: somebody else may
    /// have spent them by the time it is read.
    pub remaining: u64,
    /// How long until the budget is as if never used, unless it is used again: until the window
    /// ends, the interval is empty, the bucket is full, the last lease ends. Whole milliseconds, at
    /// least 1.
    pub resets_in: Duration,
    /// What a refund, a release or a renewal of this charge needs; `None` where the policy allows
    /// none.
    pub receipt: Option<Receipt>,
}
