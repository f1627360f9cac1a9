//! A decision on any budgets: of every rule, several at once, under a request id.

use std::hash::BuildHasher;

use limiter_core::rule::{State, Verdict};
use limiter_core::{Acquire, Charge, Clock, Decision, Denial, Error, Record, Refusal};

use crate::locks::{Lock, Locks, Place, Spot};
use crate::time::Moment;
use crate::{MemoryStore, places};

/// One charge, and where its budget is kept.
pub(crate) struct Aim<'a> {
    pub(crate) charge: &'a Charge,
    pub(crate) spot: Spot,
    pub(crate) place: Place<'a>,
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
        let record_spot = request.remembered().map(|it| self.record_of(it.id()));
        let spots = aims.iter().map(|aim| aim.spot).chain(record_spot);
        let mut locks = self.lock(spots.collect());
        let moment = self.time.moment()?;
        let stored = find_record(request, record_spot, &mut locks);
        let is_new_record = record_spot.is_some() && stored.is_none();
        if let Some(record) = stored.filter(|record| record.contains(moment.now)) {
            let admission = record.repeat(request)?;
            return Ok(Attempt::Decided(Decision::Admitted(admission)));
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
        let admission = self.apply(request, aims, &mut locks, moment)?;
        room.fill(new_budgets);
        Ok(Attempt::Decided(Decision::Admitted(admission)))
    }
}

impl Room<'_> {
    /// As many budgets as there were new ones have been added, and the record if there was a place
    /// for one.
    fn fill(&mut self, new_budgets: usize) {
        self.budgets
            .drain(..new_budgets)
            .for_each(places::Place::fill);
        self.record.take().into_iter().for_each(places::Place::fill);
    }
}

fn find_record<'l, S>(
    request: &Acquire,
    spot: Option<Spot>,
    locks: &'l mut Locks<'_, S>,
) -> Option<&'l Record> {
    locks.records(spot?)?.get(request.remembered()?.id())
}

/// Judges every charge, and says which deny and how many budgets are new.
fn judge_all<S: BuildHasher>(
    request: &Acquire,
    aims: &[Aim<'_>],
    locks: &mut Locks<'_, S>,
    moment: Moment,
) -> Result<(Vec<Refusal>, usize), Error> {
    let (mut refusals, mut new_budgets) = (Vec::new(), 0);
    for aim in aims {
        let window;
        let stored = match (&aim.place, locks.at(aim.spot)) {
            (Place::Other(key), Lock::Other(others)) => {
                others.get(key).and_then(|other| other.state())
            }
            (place, lock) => {
                window = lock.window(place).map(State::Window);
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
