//! What comes after a decision: refunds and renewals.

use limiter_core::{Charge, Error, Receipt, Refunded, Renewed, RuleKind};
use redis::aio::ConnectionLike;

use crate::acquire::{digest_of, hex, number, terms};
use crate::classify::write_error;
use crate::place::Place;
use crate::store::RedisStore;
use crate::{form, outcome, script};

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    /// Gives back what `receipt` proves was charged.
    pub(crate) async fn give_back(&self, receipt: &Receipt) -> Result<Refunded, Error> {
        let budget = receipt.budget();
        if !budget.policy().gives_receipts() {
            return Err(no_receipt(receipt));
        }
        let place = Place::of_receipt(&self.keys, receipt)?;
        let mut keys = vec![self.keys.key(place.tag, budget)];
        let mut arguments = Vec::from(terms(place, budget)?);
        arguments.extend([
            number(receipt.credit().get()),
            number(receipt.cost().get()),
            identity(place, receipt)?,
            number(receipt.serial()),
        ]);
        let charge = Charge::new(budget.clone(), receipt.cost());
        match receipt.request() {
            Some(id) => {
                keys.push(self.keys.record_key(place.tag, id));
                arguments.push(digest_of(&charge));
            }
            None => arguments.push(Vec::new()),
        }
        let reply = script::REFUND
            .run(self.connection.clone(), &keys, &arguments)
            .await
            .map_err(write_error)?;
        outcome::refunded(budget, &reply)
    }

    /// Extends the leases that `receipt` names.
    pub(crate) async fn extend(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        let (budget, policy) = (receipt.budget(), receipt.budget().policy());
        if policy.rule().kind() != RuleKind::InFlight {
            return Err(no_receipt(receipt));
        }
        let place = Place::of_receipt(&self.keys, receipt)?;
        let keys = [self.keys.key(place.tag, budget)];
        let arguments = [
            form::of(policy).as_bytes().to_vec(),
            number(policy.rule().length().as_millis()),
            number(receipt.cost().get()),
            identity(place, receipt)?,
        ];
        let reply = script::RENEW
            .run(self.connection.clone(), &keys, &arguments)
            .await
            .map_err(write_error)?;
        outcome::renewed(budget, &reply)
    }
}

/// The identity of what was charged, as the scripts know it.
fn identity(place: Place, receipt: &Receipt) -> Result<Vec<u8>, Error> {
    let (budget, identity) = (receipt.budget(), receipt.window());
    match budget.policy().rule().kind() {
        RuleKind::Rolling | RuleKind::TokenBucket => {
            let instant = place.instant(budget, identity);
            instant.map(number).ok_or_else(|| no_receipt(receipt))
        }
        _ => Ok(hex(&identity.0)),
    }
}

#[cold]
fn no_receipt(receipt: &Receipt) -> Error {
    Error::invalid(format!(
        "policy {:?}: its admissions give no receipt that this could be",
        receipt.budget().policy().name()
    ))
}
