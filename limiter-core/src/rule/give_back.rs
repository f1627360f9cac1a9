//! Giving back to a state, whatever its rule.

use crate::{Budget, Error, Receipt, Refunded, Renewed, Timestamp};

use super::State;
use super::state::{check_form, terms};

impl State {
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
}

#[cold]
fn no_receipt(budget: &Budget) -> Error {
    Error::invalid(format!(
        "policy {:?}: its admissions give no receipt that this could be",
        budget.policy().name()
    ))
}
