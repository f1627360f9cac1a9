//! Asking for one decision.

use limiter_core::{Acquire, Charge, Decision, Error};
use redis::aio::ConnectionLike;

use crate::classify::write_error;
use crate::place::Place;
use crate::store::{OFFERED, RedisStore};
use crate::{form, outcome, script};

/// What the scripts are told of a budget's policy: form, limit, largest cost, length.
pub(crate) fn terms(place: Place, budget: &limiter_core::Budget) -> Result<[Vec<u8>; 4], Error> {
    let policy = place.policy(budget)?;
    Ok([
        form::of(&policy).as_bytes().to_vec(),
        number(policy.limit().get()),
        number(policy.largest_cost().get()),
        number(policy.rule().length().as_millis()),
    ])
}

/// A number in decimal digits.
pub(crate) fn number(number: u64) -> Vec<u8> {
    number.to_string().into_bytes()
}

/// Sixteen bytes in hexadecimal digits, as the scripts keep them.
pub(crate) fn hex(bytes: &[u8; 16]) -> Vec<u8> {
    format!("{:032x}", u128::from_be_bytes(*bytes)).into_bytes()
}

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    /// Any request.
    pub(crate) async fn acquire_any(&self, request: &Acquire) -> Result<Decision, Error> {
        request.check(&OFFERED, self)?;
        let place = Place::of_request(&self.keys, request)?;
        let charges = request.charges();
        let budgets = charges.iter().map(Charge::budget);
        let mut keys: Vec<Vec<u8>> = budgets
            .map(|budget| self.keys.key(place.tag, budget))
            .collect();
        let remembered = request.remembered();
        keys.extend(remembered.map(|remembered| self.keys.record_key(place.tag, remembered.id())));
        let reply = script::ACQUIRE
            .run(self.connection.clone(), &keys, &arguments(request, place)?)
            .await
            .map_err(write_error)?;
        outcome::decision(request, place, &reply)
    }
}

fn arguments(request: &Acquire, place: Place) -> Result<Vec<Vec<u8>>, Error> {
    let nonce = request.nonce().filter(|_| request.needs_nonce());
    let nonce = nonce.map(|nonce| hex(&place.nonce(*nonce.as_bytes())));
    let mut arguments = vec![nonce.unwrap_or_default()];
    match request.remembered() {
        Some(remembered) => {
            arguments.push(hex(request.digest().as_bytes()));
            arguments.push(number(remembered.life().as_millis()));
        }
        None => arguments.extend([Vec::new(), number(0)]),
    }
    for charge in request.charges() {
        arguments.extend(terms(place, charge.budget())?);
        arguments.push(number(charge.cost().get()));
        let digest = request.remembered().map(|_| digest_of(charge));
        arguments.push(digest.unwrap_or_default());
    }
    Ok(arguments)
}

/// The digest of one charge alone.
pub(crate) fn digest_of(charge: &Charge) -> Vec<u8> {
    let alone = Acquire::one(charge.budget().clone(), charge.cost());
    hex(alone.digest().as_bytes())
}
