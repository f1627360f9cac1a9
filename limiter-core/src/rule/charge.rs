//! Charging a state, whatever its rule.

use crate::{
    Budget, Charge, Cost, Error, Grant, Nonce, Policy, Receipt, TimeRule, Timestamp, WindowIdentity,
};

use super::State;
use super::bucket::Bucket;
use super::first_arrival::Window;
use super::in_flight::Leases;
use super::refundable::RefundableWindow;
use super::rolling::Rolling;
use super::state::{identity, last_instant, terms};

impl State {
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
