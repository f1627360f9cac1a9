//! The state of a budget, whatever its rule.

use crate::{
    Budget, Charge, Cost, Error, Grant, Nonce, Policy, Receipt, Refunded, Renewed, Snapshot,
    TimeRule, Timestamp, WindowIdentity,
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

    /// Charges what was judged admissible at this instant. The state that comes back replaces the
    /// stored one.
    ///
    /// # Errors
    /// *Invalid* where the rule needs a nonce and there is none.
    pub fn charge(
        stored: Option<Self>,
        now: Timestamp,
        charge: &Charge,
        nonce: Option<Nonce>,
    ) -> Result<(Self, Grant), Error> {
        let (budget, cost) = (charge.budget(), charge.cost());
        let policy = budget.policy();
        let length = policy.rule().length();
        let (state, window, serial) = match (policy.rule(), stored) {
            (TimeRule::FirstArrival { .. } | TimeRule::Aligned { .. }, stored) => {
                if policy.is_refundable() {
                    let window = open_window(stored, now, budget, nonce)?;
                    charge_refundable(window, cost)
                } else {
                    let window = charge_window(stored, now, policy, cost);
                    (Self::Window(window), WindowIdentity([0; 16]), window.total)
                }
            }
            (TimeRule::Rolling { .. }, stored) => {
                let mut rolling = match stored {
                    Some(Self::Rolling(rolling)) => rolling,
                    _ => Rolling::default(),
                };
                let at = rolling.charge(now, length, cost);
                (Self::Rolling(rolling), WindowIdentity::at(at), 0)
            }
            (TimeRule::TokenBucket { .. }, stored) => {
                let bucket = match stored {
                    Some(Self::Bucket(bucket)) => bucket,
                    _ => Bucket::full(now),
                };
                let bucket = bucket.charge(now, terms(policy), cost);
                let full_at = bucket.full_at(terms(policy));
                (Self::Bucket(bucket), WindowIdentity::at(full_at), 0)
            }
            (TimeRule::InFlight { .. }, stored) => {
                let mut leases = match stored {
                    Some(Self::Leases(leases)) => leases,
                    _ => Leases::default(),
                };
                let identity = identity(nonce, budget)?;
                leases.charge(now, length, identity, cost);
                (Self::Leases(leases), identity, 0)
            }
        };
        let receipt = policy
            .gives_receipts()
            .then(|| Receipt::new(budget, window, serial, cost));
        let grant = state.grant(now, policy, receipt);
        Ok((state, grant))
    }

    fn grant(&self, now: Timestamp, policy: &Policy, receipt: Option<Receipt>) -> Grant {
        let seen = self.view(now, policy);
        Grant {
            total: match self {
                Self::Refundable(window) => window.charged(),
                _ => seen.total,
            },
            remaining: seen.remaining,
            resets_in: seen.resets_in.unwrap_or_default(),
            receipt,
        }
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

    fn view(&self, now: Timestamp, policy: &Policy) -> Snapshot {
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

    /// Gives back what `receipt` proves was charged. Where nothing is stored any more, the answer
    /// is [`Refunded::Late`]. Save the state unless nothing was credited.
    ///
    /// The receipt of a remembered request needs more: see [`Record::refund`](crate::Record::refund).
    ///
    /// # Errors
    /// *Corrupt* for a state of another rule; *invalid* for a receipt of a policy that gives none.
    pub fn refund(&mut self, now: Timestamp, receipt: &Receipt) -> Result<Refunded, Error> {
        let (budget, credit) = (receipt.budget(), receipt.credit());
        let policy = budget.policy();
        check_form(Some(self), budget)?;
        Ok(match (self, receipt.window().instant()) {
            (Self::Refundable(window), _) => {
                window.refund(now, receipt.window(), receipt.serial(), credit)
            }
            (Self::Leases(leases), _) => leases.release(now, receipt.window()),
            (Self::Rolling(rolling), Some(at)) if policy.is_refundable() => {
                rolling.refund(now, policy.rule().length(), at, credit)
            }
            (Self::Bucket(bucket), Some(full_at)) if policy.is_refundable() => {
                bucket.refund(now, terms(policy), full_at, credit)
            }
            _ => return Err(no_receipt(budget)),
        })
    }

    /// Extends the leases that `receipt` names. Where nothing is stored any more, the answer is
    /// [`Renewed::Lost`].
    ///
    /// # Errors
    /// *Corrupt* for a state of another rule; *invalid* for a receipt that names no lease.
    pub fn renew(&mut self, now: Timestamp, receipt: &Receipt) -> Result<Renewed, Error> {
        let budget = receipt.budget();
        check_form(Some(self), budget)?;
        match self {
            Self::Leases(leases) => {
                let lease = budget.policy().rule().length();
                Ok(leases.renew(now, lease, receipt.window()))
            }
            _ => Err(no_receipt(budget)),
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

fn check_form(stored: Option<&State>, budget: &Budget) -> Result<(), Error> {
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
fn last_instant(now: Timestamp, policy: &Policy) -> Timestamp {
    match policy.rule() {
        TimeRule::Aligned { length } => aligned::last_instant(now, length),
        rule => now.plus_millis(rule.length().as_millis()),
    }
}

fn charge_window(stored: Option<State>, now: Timestamp, policy: &Policy, cost: Cost) -> Window {
    let open = match stored {
        Some(State::Window(window)) if window.contains(now) => Some(window),
        _ => None,
    };
    Window {
        total: open.map_or(0, |window| window.total) + cost.get(),
        deadline: open.map_or(last_instant(now, policy), |window| window.deadline),
    }
}

fn open_window(
    stored: Option<State>,
    now: Timestamp,
    budget: &Budget,
    nonce: Option<Nonce>,
) -> Result<RefundableWindow, Error> {
    match stored {
        Some(State::Refundable(window)) if window.contains(now) => Ok(window),
        _ => Ok(RefundableWindow::open(
            identity(nonce, budget)?,
            last_instant(now, budget.policy()),
        )),
    }
}

fn charge_refundable(mut window: RefundableWindow, cost: Cost) -> (State, WindowIdentity, u64) {
    let serial = window.charge(cost);
    let identity = window.identity();
    (State::Refundable(window), identity, serial)
}

fn terms(policy: &Policy) -> Terms {
    Terms {
        limit: policy.limit(),
        burst: policy.largest_cost(),
        length: policy.rule().length(),
    }
}

fn identity(nonce: Option<Nonce>, budget: &Budget) -> Result<WindowIdentity, Error> {
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

#[cold]
fn no_receipt(budget: &Budget) -> Error {
    Error::invalid(format!(
        "policy {:?}: its admissions give no receipt that this could be",
        budget.policy().name()
    ))
}
