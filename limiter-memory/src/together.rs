//! A decision on any budgets: of every rule, several at once, under a request id.

use std::hash::BuildHasher;

use limiter_core::rule::State;
use limiter_core::rule::first_arrival::Window;
use limiter_core::{
    Acquire, Admission, Charge, Clock, Decision, Denial, Error, Grant, Record, Refusal,
};

use crate::MemoryStore;
use crate::decide::AT_AN_OPENING;
use crate::locks::{Lock, Locks, Place, Spot};
use crate::places;
use crate::time::Moment;

/// One charge, and where its budget is kept.
struct Aim<'a> {
    charge: &'a Charge,
    spot: Spot,
    place: Place<'a>,
}

/// Room that was found for what a decision adds.
#[derive(Default)]
struct Room<'a> {
    budgets: Vec<places::Place<'a>>,
    record: Option<places::Place<'a>>,
}

enum Attempt {
    Decided(Decision),
    NeedsBudget,
    NeedsRecord,
}

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStore<C, S> {
    /// Decides, and where the store is full, makes room and decides again; each time with one place
    /// more, so it ends. No lock is held while room is sought.
    pub(crate) fn decide_together(&self, request: &Acquire) -> Result<Decision, Error> {
        let aims: Vec<Aim<'_>> = request.charges().iter().map(|c| self.aim(c)).collect();
        let mut room = Room::default();
        loop {
            match self.attempt_together(request, &aims, &mut room)? {
                Attempt::Decided(decision) => return Ok(decision),
                Attempt::NeedsBudget => room.budgets.push(self.make_room(0)?),
                Attempt::NeedsRecord => room.record = Some(self.make_record_room()?),
            }
        }
    }

    fn aim<'a>(&self, charge: &'a Charge) -> Aim<'a> {
        let (spot, place) = self.place_of(charge.budget());
        Aim {
            charge,
            spot,
            place,
        }
    }

    fn attempt_together<'a>(
        &'a self,
        request: &Acquire,
        aims: &[Aim<'_>],
        room: &mut Room<'a>,
    ) -> Result<Attempt, Error> {
        let id = request.remembered().map(|remembered| remembered.id());
        let record_spot = id.map(|id| self.record_of(id));
        let spots = aims.iter().map(|aim| aim.spot).chain(record_spot);
        let mut locks = self.lock(spots.collect());
        let moment = self.time.moment()?;
        let mut is_new_record = false;
        if let (Some(id), Some(spot)) = (id, record_spot) {
            let stored = locks.records(spot).and_then(|records| records.get(id));
            is_new_record = stored.is_none();
            if let Some(record) = stored.filter(|record| record.contains(moment.now)) {
                let admission = record.repeat(request)?;
                return Ok(Attempt::Decided(Decision::Admitted(admission)));
            }
        }
        let (refusals, new_budgets) = judge_all(request, aims, &mut locks, moment)?;
        if !refusals.is_empty() {
            let denial = Denial::new(refusals);
            return Ok(Attempt::Decided(Decision::Denied(denial)));
        }
        while room.budgets.len() < new_budgets {
            let Some(place) = self.places.take() else {
                return Ok(Attempt::NeedsBudget);
            };
            room.budgets.push(place);
        }
        if is_new_record && room.record.is_none() {
            let Some(place) = self.record_places.take() else {
                return Ok(Attempt::NeedsRecord);
            };
            room.record = Some(place);
        }
        let mut grants = Vec::with_capacity(aims.len());
        for aim in aims {
            grants.push(self.charge(request, aim, &mut locks, moment, room)?);
        }
        let mut admission = Admission::new(grants);
        if let (Some(id), Some(spot)) = (id, record_spot) {
            admission = admission.of_request(id);
            let record = Record::of(request, &admission, moment.now);
            if let (Some(records), Some(record)) = (locks.records(spot), record) {
                // The new one comes first: it may take the place of one that is over.
                records.insert(id.clone(), record);
                let removed = records.remove_expired(moment.now, AT_AN_OPENING.records);
                self.record_places.give_back(removed);
                room.record.take().into_iter().for_each(places::Place::fill);
            }
        }
        Ok(Attempt::Decided(Decision::Admitted(admission)))
    }

    /// Applies one charge, under all locks of the decision.
    fn charge(
        &self,
        request: &Acquire,
        aim: &Aim<'_>,
        locks: &mut Locks<'_, S>,
        moment: Moment,
        room: &mut Room<'_>,
    ) -> Result<Grant, Error> {
        let (now, policy) = (moment.now, aim.charge.budget().policy());
        let before = aim.take_state(locks);
        let was_stored = before.is_some();
        let open = match &before {
            Some(State::Window(window)) => Some(*window),
            _ => None,
        };
        let (state, mut grant) = State::charge(before, now, aim.charge, request.nonce())?;
        grant.resets_in = moment.by_the_clock(grant.resets_in);
        let removed = match (&aim.place, locks.at(aim.spot), state) {
            (Place::Short(key, hash), Lock::Short(shard), State::Window(window)) => {
                shard.save(*key, *hash, policy.rule().length(), open, window, now)
            }
            (Place::Long(key, hash), Lock::Long(shard), State::Window(window)) => {
                shard.save(*key, *hash, policy.rule().length(), open, window, now)
            }
            (Place::Other(key), Lock::Other(others), state) => match others.get_mut(key) {
                Some(other) => {
                    other.put(state, policy);
                    0
                }
                None => {
                    let other = crate::other::Other::new(state, policy);
                    others.insert(key.clone(), other);
                    others.remove_expired(now, AT_AN_OPENING.records)
                }
            },
            _ => unreachable!("the shard of a budget is one of its own table"),
        };
        self.places.give_back(removed);
        if !was_stored {
            room.budgets.pop().into_iter().for_each(places::Place::fill);
        }
        Ok(grant)
    }
}

/// Judges every charge, and says which deny and how many budgets are new.
fn judge_all<S: BuildHasher>(
    request: &Acquire,
    aims: &[Aim<'_>],
    locks: &mut Locks<'_, S>,
    moment: Moment,
) -> Result<(Vec<Refusal>, usize), Error> {
    use limiter_core::rule::Verdict;
    let (mut refusals, mut new_budgets) = (Vec::new(), 0);
    for aim in aims {
        let window;
        let stored = match (&aim.place, locks.at(aim.spot)) {
            (Place::Other(key), Lock::Other(others)) => {
                others.get(key).and_then(|other| other.state())
            }
            (place, lock) => {
                window = find_window(place, lock).map(State::Window);
                window.as_ref()
            }
        };
        new_budgets += usize::from(stored.is_none());
        let verdict = State::judge(stored, moment.now, aim.charge, request.nonce())?;
        if let Verdict::Deny { remaining, wait } = verdict {
            refusals.push(Refusal {
                budget: aim.charge.budget().clone(),
                remaining,
                wait: moment.wait_by_the_clock(wait),
            });
        }
    }
    Ok((refusals, new_budgets))
}

fn find_window<S: BuildHasher>(place: &Place<'_>, lock: &mut Lock<'_, S>) -> Option<Window> {
    use crate::key::Query;
    let stored = match (place, lock) {
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

impl Aim<'_> {
    /// What is stored: a window's copy, or the state itself, to be put back.
    fn take_state<S: BuildHasher>(&self, locks: &mut Locks<'_, S>) -> Option<State> {
        match (&self.place, locks.at(self.spot)) {
            (Place::Other(key), Lock::Other(others)) => others.get_mut(key)?.take(),
            (place, lock) => find_window(place, lock).map(State::Window),
        }
    }
}
