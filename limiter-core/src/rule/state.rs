//! The state of a budget, whatever its rule.

use crate::{
    Budget, Charge, Cost, Error, Nonce, Policy, Snapshot, TimeRule, Timestamp, WindowIdentity,
};

use super::bucket::{Bucket, Terms};
use super::first_arrival::Window;
use super::in_flight::Leases;
use super::refundable::RefundableWindow;
use super::rolling::Rolling;
use super::window::{self, Judgement};
use super::{Verdict, aligned};

/// What is stored for a budget, under any rule. A budget that nothing is stored for is `None`.
///
/// Each call takes the policy of the request, so that a changed limit holds from then on. The rule
/// and the stored form are the same for one key; a state of another form is *corrupt*.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// Of a first-arrival or aligned window.
    Window(Window),
    /// Of a first-arrival or aligned window that can be refunded.
    Refundable(RefundableWindow),
    /// Of a rolling window.
    Rolling(Rolling),
    /// Of a token bucket.
    Bucket(Bucket),
    /// Of an in-flight budget.
    Leases(Leases),
}

impl State {
    /// Judges one charge; changes nothing. A store judges every charge of an acquisition before it
    /// applies the first.
    ///
    /// # Errors
    /// *Corrupt* for a state of another rule; *invalid* for a lease under a nonce that is missing or
    /// that another lease has.
    pub fn judge(
        stored: Option<&Self>,
        now: Timestamp,
        charge: &Charge,
        nonce: Option<Nonce>,
    ) -> Result<Verdict, Error> {
        let (budget, cost) = (charge.budget(), charge.cost());
        let (policy, limit) = (budget.policy(), budget.policy().limit());
        check_form(stored, budget)?;
        Ok(match stored {
            None => unused(policy, cost),
            Some(Self::Window(stored)) => match judge_window(Some(*stored), now, policy, cost) {
                Judgement::Admit(_) => Verdict::Admit,
                Judgement::Deny { remaining, wait } => Verdict::Deny { remaining, wait },
            },
            Some(Self::Refundable(window)) => {
                RefundableWindow::judge(Some(window), now, limit, cost)
            }
            Some(Self::Rolling(rolling)) => rolling.judge(now, limit, policy.rule().length(), cost),
            Some(Self::Bucket(bucket)) => bucket.judge(now, terms(policy), cost),
            Some(Self::Leases(leases)) => {
                let identity = identity(nonce, budget)?;
                if leases.holds(now, identity) {
                    return Err(nonce_used(budget));
                }
                leases.judge(now, limit, cost)
            }
        })
    }

    /// Looks at a budget.
    ///
    /// # Errors
    /// *Corrupt* for a state of another rule.
    pub fn peek(stored: Option<&Self>, now: Timestamp, budget: &Budget) -> Result<Snapshot, Error> {
        check_form(stored, budget)?;
        let policy = budget.policy();
        Ok(match stored {
            Some(state) => state.view(now, policy),
            None => Snapshot::unused(policy.largest_cost()),
        })
    }

    pub(super) fn view(&self, now: Timestamp, policy: &Policy) -> Snapshot {
        let (limit, length) = (policy.limit(), policy.rule().length());
        match self {
            Self::Window(window) if window.contains(now) => Snapshot {
                total: window.total,
                remaining: window.remaining(limit),
                resets_in: Some(window.resets_in(now)),
            },
            Self::Refundable(window) if window.contains(now) => Snapshot {
                total: window.spent(),
                remaining: window.remaining(limit),
                resets_in: Some(window.resets_in(now)),
            },
            Self::Window(_) | Self::Refundable(_) => Snapshot::unused(limit),
            Self::Rolling(rolling) => rolling.view(now, limit, length),
            Self::Bucket(bucket) => bucket.view(now, terms(policy)),
            Self::Leases(leases) => leases.view(now, limit),
        }
    }

    /// The last instant at which this state can deny: a store may drop it after that, and must not
    /// before.
    pub fn deadline(&self, policy: &Policy) -> Timestamp {
        match self {
            Self::Window(window) => window.deadline,
            Self::Refundable(window) => window.deadline(),
            Self::Rolling(rolling) => rolling.deadline(policy.rule().length()),
            Self::Bucket(bucket) => bucket.deadline(terms(policy)),
            Self::Leases(leases) => leases.deadline(),
        }
    }

    /// Whether this is how budgets of `policy` are stored.
    pub(super) fn fits(&self, policy: &Policy) -> bool {
        match (self, policy.rule()) {
            (Self::Window(_), TimeRule::FirstArrival { .. } | TimeRule::Aligned { .. }) => {
                !policy.is_refundable()
            }
            (Self::Refundable(_), TimeRule::FirstArrival { .. } | TimeRule::Aligned { .. }) => {
                policy.is_refundable()
            }
            (Self::Rolling(_), TimeRule::Rolling { .. })
            | (Self::Bucket(_), TimeRule::TokenBucket { .. })
            | (Self::Leases(_), TimeRule::InFlight { .. }) => true,
            _ => false,
        }
    }
}

pub(super) fn check_form(stored: Option<&State>, budget: &Budget) -> Result<(), Error> {
    match stored {
        Some(state) if !state.fits(budget.policy()) => Err(super::bytes::corrupt(
            budget,
            "it is the state of another rule",
        )),
        _ => Ok(()),
    }
}

fn unused(policy: &Policy, cost: Cost) -> Verdict {
    let largest = policy.largest_cost().get();
    if cost.get() > largest {
        return Verdict::never(largest);
    }
    Verdict::Admit
}

fn judge_window(stored: Option<Window>, now: Timestamp, policy: &Policy, cost: Cost) -> Judgement {
    window::judge(stored, now, last_instant(now, policy), policy.limit(), cost)
}

/// The last instant of a window that opens at `now`.
pub(super) fn last_instant(now: Timestamp, policy: &Policy) -> Timestamp {
    match policy.rule() {
        TimeRule::Aligned { length } => aligned::last_instant(now, length),
        rule => now.plus_millis(rule.length().as_millis()),
    }
}

pub(super) fn terms(policy: &Policy) -> Terms {
    Terms {
        limit: policy.limit(),
        burst: policy.largest_cost(),
        length: policy.rule().length(),
    }
}

pub(super) fn identity(nonce: Option<Nonce>, budget: &Budget) -> Result<WindowIdentity, Error> {
    nonce.map(WindowIdentity::from).ok_or_else(|| {
        Error::invalid(format!(
            "policy {:?}: a charge to it needs a nonce, and the request brings none",
            budget.policy().name()
        ))
    })
}

#[cold]
fn nonce_used(budget: &Budget) -> Error {
    Error::invalid(format!(
        "policy {:?}: the nonce of the request already names a lease: allowed is a new one",
        budget.policy().name()
    ))
}
