//! Whether a store can serve a request, before anything is sent.

use std::fmt;

use crate::policy::bounds::MAX_IN_FLIGHT_COST;
use crate::{Acquire, Capabilities, Charge, Error, RuleKind};

impl Acquire {
    /// For stores, to be asked before anything is sent or charged: whether a store that offers
    /// `offered` can serve this request. `store` names it in the error.
    ///
    /// # Errors
    /// *Invalid* for more charges than it takes, for a rule that it does not keep, a refundable
    /// window where it refunds none, a request id where it remembers none, a nonce that is needed
    /// and missing, and for more than 1,024 permits of an in-flight budget.
    pub fn check(&self, offered: &Capabilities, store: &dyn fmt::Display) -> Result<(), Error> {
        let charges = self.charges().len();
        if charges > offered.max_charges {
            let most = offered.max_charges;
            return Err(Error::invalid(format!(
                "an acquisition of {charges} charges: {store} takes at most {most}"
            )));
        }
        if self.remembered().is_some() && !offered.request_ids {
            return Err(Error::invalid(format!(
                "a request id: {store} does not remember requests"
            )));
        }
        for charge in self.charges() {
            offered.check(charge.budget().policy(), store)?;
            self.check_charge(charge)?;
        }
        Ok(())
    }

    fn check_charge(&self, charge: &Charge) -> Result<(), Error> {
        let (policy, cost) = (charge.budget().policy(), charge.cost());
        let in_flight = policy.rule().kind() == RuleKind::InFlight;
        if in_flight && cost.get() > MAX_IN_FLIGHT_COST {
            return Err(Error::invalid(format!(
                "policy {:?}: a cost of {cost} permits: allowed is 1 to {MAX_IN_FLIGHT_COST}",
                policy.name()
            )));
        }
        if self.nonce().is_none() && policy.needs_nonce() {
            return Err(Error::invalid(format!(
                "policy {:?}: a charge to it needs a nonce, and the request brings none",
                policy.name()
            )));
        }
        Ok(())
    }
}
