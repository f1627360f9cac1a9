//! One decision: where the rule, the table, the capacity and the time meet.

use std::hash::BuildHasher;

use limiter_core::rule::first_arrival::{Judgement, Window, judge};
use limiter_core::{Clock, Cost, Error, Length, Limit, Policy, TimeRule, Timestamp};

use crate::dated::{DatedShards, Deadline};
use crate::expiry::Step;
use crate::key::{Query, StoredKey};
use crate::places::{Place, Places};
use crate::table::{Shard, Table};
use crate::time::Moment;
use crate::{Hash, MemoryStore, Outcome, ShardHash};

/// What is asked of a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    limit: Limit,
    length: Length,
    cost: Cost,
}

/// What each opening of a window does for those that are over. Two records for the one that it adds
/// keep their number from growing.
pub(crate) const AT_AN_OPENING: Step = Step {
    records: 2,
    entries: 2,
};

/// What a call that finds the store full does in each shard that seems to have something expired:
/// it needs one place, and outdated records may lie before it.
const FOR_ROOM: Step = Step {
    records: 8,
    entries: 1,
};

/// Why an attempt came to no decision.
enum Stop {
    /// The budget is new, it would be admitted, and there is no place for it. That never happens to a
    /// call that brings a place.
    Full,
    Failed(Error),
}

impl Ask {
    /// `None` for a policy whose budgets are not plain.
    #[inline]
    pub(crate) fn new(policy: &Policy, cost: Cost) -> Option<Self> {
        is_plain(policy).then(|| Self {
            limit: policy.limit(),
            length: policy.rule().length(),
            cost,
        })
    }

    #[inline]
    fn admitted(self, window: Window, moment: Moment) -> Outcome {
        Outcome::Admitted {
            total: window.total,
            remaining: window.remaining(self.limit),
            resets_in: moment.by_the_clock(window.resets_in(moment.now)),
        }
    }
}

impl<C: Clock, S: BuildHasher + Send + Sync> MemoryStore<C, S> {
    /// Decides, and where the store is full, makes room and decides again.
    ///
    /// The shard is not held while room is sought in others, so no call ever holds two. By the time
    /// of the second attempt the budget may exist: then the place that was found is given back.
    pub(crate) fn decide<Q: Query>(
        &self,
        table: &Table<Q::Stored>,
        query: Q,
        ask: Ask,
    ) -> Result<Outcome, Error> {
        let hash = query.hash(&self.hasher);
        self.attempt(table, query, hash, ask, None)
            .or_else(|stop| match stop {
                Stop::Failed(error) => Err(error),
                Stop::Full => self.decide_with_room(table, query, hash, ask),
            })
    }

    #[cold]
    fn decide_with_room<Q: Query>(
        &self,
        table: &Table<Q::Stored>,
        query: Q,
        hash: Hash,
        ask: Ask,
    ) -> Result<Outcome, Error> {
        let place = self.make_room(table.shard_of(hash))?;
        self.attempt(table, query, hash, ask, Some(place))
            .map_err(|stop| match stop {
                Stop::Failed(error) => error,
                Stop::Full => unreachable!("it brought a place"),
            })
    }

    /// Decides under the shard's lock. Most calls find a window that is open: only that is inlined.
    #[inline(always)]
    fn attempt<Q: Query>(
        &self,
        table: &Table<Q::Stored>,
        query: Q,
        hash: Hash,
        ask: Ask,
        place: Option<Place<'_>>,
    ) -> Result<Outcome, Stop> {
        let mut shard = table.write(table.shard_of(hash), &self.hasher);
        let moment = self.time.moment().map_err(Stop::Failed)?;
        let stored = shard.find(hash.in_shard(), |key| query.matches(key));
        let before = stored.as_deref().copied().map(Window::from);
        let window = match judge(before, moment.now, ask.limit, ask.length, ask.cost) {
            Judgement::Admit(window) => window,
            Judgement::Deny { remaining, wait } => {
                let wait = moment.wait_by_the_clock(wait);
                return Ok(Outcome::Denied { remaining, wait });
            }
        };
        match (stored, before) {
            (Some(stored), Some(before)) if before.deadline == window.deadline => {
                *stored = window.into();
            }
            _ => self.open(
                &mut shard,
                query,
                hash.in_shard(),
                ask,
                window,
                moment,
                place,
            )?,
        }
        Ok(ask.admitted(window, moment))
    }

    /// Opens a window, in the place of one that is over or in a place of its own.
    #[allow(
        clippy::too_many_arguments,
        reason = "the rest of a decision that was cut in two"
    )]
    #[inline(never)]
    fn open<Q: Query>(
        &self,
        shard: &mut Shard<'_, Q::Stored, S>,
        query: Q,
        hash: ShardHash,
        ask: Ask,
        window: Window,
        moment: Moment,
        place: Option<Place<'_>>,
    ) -> Result<(), Stop> {
        if let Some(stored) = shard.find(hash, |key| query.matches(key)) {
            *stored = window.into();
            // The new window comes first: the old one's record is at the front, and must find
            // nothing to remove.
            shard.note(ask.length, hash, window.deadline);
            shard.remove_expired(moment.now, AT_AN_OPENING, |freed| {
                self.places.give_back(freed);
            });
            return Ok(());
        }
        // Here removal comes first: what it frees is what the new entry needs.
        let reuse = |freed| self.places.reuse(freed);
        let reused = shard.remove_expired(moment.now, AT_AN_OPENING, reuse);
        let place = place.or(reused).or_else(|| self.places.take());
        let place = place.ok_or(Stop::Full)?;
        shard.insert(hash, query.to_stored(), window.into());
        shard.note(ask.length, hash, window.deadline);
        place.fill();
        Ok(())
    }

    /// A place, freed by removing an expired budget from whichever shard has one, beginning at
    /// `start`. Shards without any are passed over without being locked. In the end the count is
    /// asked again: what others removed meanwhile is settled before their shards look empty.
    #[cold]
    pub(crate) fn make_room(&self, start: usize) -> Result<Place<'_>, Error> {
        let now = self.time.moment()?.now;
        self.room_in(&self.short, start, now)
            .or_else(|| self.room_in(&self.long, start, now))
            .or_else(|| room_among(&self.others, &self.places, start, now))
            .or_else(|| self.places.take())
            .ok_or_else(|| full(self.capacity()))
    }

    /// As [`make_room`](Self::make_room), for what is remembered under request ids.
    #[cold]
    pub(crate) fn make_record_room(&self) -> Result<Place<'_>, Error> {
        let now = self.time.moment()?.now;
        room_among(&self.records, &self.record_places, 0, now)
            .or_else(|| self.record_places.take())
            .ok_or_else(|| too_many_records(self.record_places.capacity()))
    }

    fn room_in<K: StoredKey>(
        &self,
        table: &Table<K>,
        start: usize,
        now: Timestamp,
    ) -> Option<Place<'_>> {
        let shards = table.shard_count();
        let in_order = (0..shards).map(|step| (start + step) % shards);
        let mut due = in_order.filter(|shard| table.is_due(*shard, now));
        due.find_map(|shard| {
            let mut shard = table.write(shard, &self.hasher);
            shard.remove_expired(now, FOR_ROOM, |freed| self.places.reuse(freed))
        })
    }
}

/// Whether budgets of `policy` are kept in twelve bytes, and decided on the fast path.
#[inline]
pub(crate) fn is_plain(policy: &Policy) -> bool {
    matches!(policy.rule(), TimeRule::FirstArrival { .. }) && !policy.is_refundable()
}

fn room_among<'a, K: Ord + Clone, V: Deadline>(
    dated: &DatedShards<K, V>,
    places: &'a Places,
    start: usize,
    now: Timestamp,
) -> Option<Place<'a>> {
    let shards = dated.shard_count();
    let in_order = (0..shards).map(|step| (start + step) % shards);
    let mut due = in_order.filter(|shard| dated.is_due(*shard, now));
    due.find_map(|shard| {
        let mut shard = dated.lock(shard);
        places.reuse(shard.remove_expired(now, FOR_ROOM.records))
    })
}

#[cold]
fn too_many_records(most: usize) -> Error {
    Error::unavailable(format!(
        "the store remembers {most} requests, and none of them is over: nothing was charged"
    ))
}

#[cold]
fn full(capacity: usize) -> Error {
    Error::unavailable(format!(
        "the store is full: it holds {capacity} budgets, and found none that is over"
    ))
}
