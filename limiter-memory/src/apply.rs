//! Applying an admitted decision, under all its locks.

use std::hash::BuildHasher;

use limiter_core::rule::State;
use limiter_core::rule::first_arrival::Window;
use limiter_core::{Acquire, Admission, Clock, Error, Grant, Record};

use crate::MemoryStore;
use crate::decide::AT_AN_OPENING;
use crate::key::Query;
use crate::locks::{Lock, Locks, Place};
use crate::other::Other;
use crate::time::Moment;
use crate::together::Aim;

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStore<C, S> {
    /// Charges everything that was judged admissible, and remembers it if it is to be.
    ///
    /// What is over is removed at the end: earlier it could be a budget that a later charge opens
    /// anew, and that was not counted as new.
    pub(crate) fn apply(
        &self,
        request: &Acquire,
        aims: &[Aim<'_>],
        locks: &mut Locks<'_, S>,
        moment: Moment,
    ) -> Result<Admission, Error> {
        let mut grants = Vec::with_capacity(aims.len());
        for aim in aims {
            grants.push(charge(request, aim, locks, moment)?);
        }
        let mut admission = Admission::new(grants);
        if let Some(remembered) = request.remembered() {
            let id = remembered.id();
            admission = admission.of_request(id);
            let record = Record::of(request, &admission, moment.now);
            if let (Some(records), Some(record)) = (locks.records(self.record_of(id)), record) {
                records.insert(id.clone(), record);
            }
        }
        locks.iter_mut().for_each(|lock| self.clean(lock, moment));
        Ok(admission)
    }

    /// Removes a little of what is over in a shard.
    fn clean(&self, lock: &mut Lock<'_, S>, moment: Moment) {
        let (now, step) = (moment.now, AT_AN_OPENING);
        let freed = match lock {
            Lock::Short(shard) => shard.remove_expired(now, step, |freed| freed),
            Lock::Long(shard) => shard.remove_expired(now, step, |freed| freed),
            Lock::Other(others) => others.remove_expired(now, step.records),
            Lock::Record(records) => {
                let freed = records.remove_expired(now, step.records);
                return self.record_places.give_back(freed);
            }
        };
        self.places.give_back(freed);
    }
}

/// Applies one charge.
fn charge<S: BuildHasher>(
    request: &Acquire,
    aim: &Aim<'_>,
    locks: &mut Locks<'_, S>,
    moment: Moment,
) -> Result<Grant, Error> {
    let (now, policy) = (moment.now, aim.charge.budget().policy());
    let length = policy.rule().length();
    let lock = locks.at(aim.spot);
    let window = lock.window(&aim.place);
    let before = match (&aim.place, &mut *lock) {
        (Place::Other(key), Lock::Other(others)) => others.get_mut(key).and_then(Other::take),
        _ => window.map(State::Window),
    };
    let (state, mut grant) = State::charge(before, now, aim.charge, request.nonce())?;
    grant.resets_in = moment.by_the_clock(grant.resets_in);
    match (&aim.place, lock, state) {
        (Place::Short(key, hash), Lock::Short(shard), State::Window(charged)) => {
            shard.save(*key, hash.in_shard(), length, window, charged);
        }
        (Place::Long(key, hash), Lock::Long(shard), State::Window(charged)) => {
            shard.save(*key, hash.in_shard(), length, window, charged);
        }
        (Place::Other(key), Lock::Other(others), state) => match others.get_mut(key) {
            Some(other) => other.put(state, policy),
            None => others.insert(key.clone(), Other::new(state, policy)),
        },
        _ => unreachable!("the shard of a budget is one of its own table"),
    }
    Ok(grant)
}

impl<S: BuildHasher> Lock<'_, S> {
    /// The window at `place`, if this is its shard and it has one.
    pub(crate) fn window(&mut self, place: &Place<'_>) -> Option<Window> {
        let stored = match (place, self) {
            (Place::Short(query, hash), Lock::Short(shard)) => {
                shard.find(hash.in_shard(), |key| query.matches(key))
            }
            (Place::Long(query, hash), Lock::Long(shard)) => {
                shard.find(hash.in_shard(), |key| query.matches(key))
            }
            _ => None,
        };
        stored.copied().map(Window::from)
    }
}
