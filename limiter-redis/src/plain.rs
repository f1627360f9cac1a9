//! One charge to a first-arrival window, without refunds and request id: the most common call.

use limiter_core::{Acquire, Charge, Decision, Error, Limit};
use redis::aio::ConnectionLike;
use redis::{RedisError, Value};

use crate::classify::write_error;
use crate::key::Tag;
use crate::place::Place;
use crate::store::RedisStore;
use crate::{answer, form, script};

/// The charge of `request`, where that is all it is.
pub(crate) fn charge(request: &Acquire) -> Option<&Charge> {
    match (request.charges(), request.remembered()) {
        ([charge], None) if form::is_plain(charge.budget().policy()) => Some(charge),
        _ => None,
    }
}

/// What the scripts are told of such a charge.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) key: Vec<u8>,
    pub(crate) tag: Tag,
    pub(crate) limit: Limit,
    pub(crate) cost: u64,
    pub(crate) length_ms: u64,
}

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    pub(crate) fn plain(&self, request: &Acquire, charge: &Charge) -> Result<Plain, Error> {
        let budget = charge.budget();
        let place = Place::of_request(&self.keys, request)?;
        Ok(Plain {
            key: self.keys.key(place.tag, budget),
            tag: place.tag,
            limit: place.limit(budget),
            cost: charge.cost().get(),
            length_ms: budget.policy().rule().length().as_millis(),
        })
    }

    pub(crate) async fn send_plain(&self, plain: Plain) -> Result<Value, RedisError> {
        let arguments = [plain.limit.get(), plain.cost, plain.length_ms];
        script::ACQUIRE_FIRST_ARRIVAL
            .run(self.connection.clone(), &[plain.key], &arguments)
            .await
    }

    pub(crate) async fn acquire_plain(
        &self,
        request: &Acquire,
        charge: &Charge,
    ) -> Result<Decision, Error> {
        let plain = self.plain(request, charge)?;
        let limit = plain.limit;
        let reply = self.send_plain(plain).await.map_err(write_error)?;
        answer::decision(charge, limit, &reply)
    }
}
