//! Looking at a budget, and forgetting it.

use limiter_core::{Budget, Error, Snapshot};
use redis::aio::ConnectionLike;

use crate::acquire::terms;
use crate::classify::{peek_error, write_error};
use crate::place::Place;
use crate::store::{OFFERED, RedisStore};
use crate::{answer, form, outcome, script};

impl<C: ConnectionLike + Clone + Send + Sync> RedisStore<C> {
    /// Looks at `budget`: at all its parts, one after the other, where it is spread over partitions.
    pub(crate) async fn look(&self, budget: &Budget) -> Result<Snapshot, Error> {
        OFFERED.check(budget.policy(), self)?;
        let mut seen: Option<Snapshot> = None;
        for place in Place::all_of(&self.keys, budget) {
            let part = self.look_at(place, budget).await?;
            seen = Some(seen.map_or(part, |seen| Snapshot {
                total: seen.total + part.total,
                remaining: seen.remaining + part.remaining,
                resets_in: seen.resets_in.max(part.resets_in),
            }));
        }
        Ok(seen.expect("a budget is in one place at least"))
    }

    async fn look_at(&self, place: Place, budget: &Budget) -> Result<Snapshot, Error> {
        let keys = [self.keys.key(place.tag, budget)];
        let connection = self.connection.clone();
        if form::is_plain(budget.policy()) {
            let arguments: [u64; 0] = [];
            let reply = script::PEEK_FIRST_ARRIVAL.run(connection, &keys, &arguments);
            return answer::snapshot(
                budget,
                place.limit(budget),
                &reply.await.map_err(peek_error)?,
            );
        }
        let arguments = terms(place, budget)?;
        let reply = script::PEEK.run(connection, &keys, &arguments);
        outcome::snapshot(budget, place, &reply.await.map_err(peek_error)?)
    }

    /// Removes what is stored for `budget`. A large set is freed in the background of the server.
    pub(crate) async fn forget(&self, budget: &Budget) -> Result<(), Error> {
        OFFERED.check(budget.policy(), self)?;
        for place in Place::all_of(&self.keys, budget) {
            let mut unlink = redis::cmd("UNLINK");
            unlink.arg(self.keys.key(place.tag, budget));
            let sent = script::send(&mut self.connection.clone(), &unlink).await;
            sent.map_err(write_error)?;
        }
        Ok(())
    }
}
