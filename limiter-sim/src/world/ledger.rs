//! What was admitted, what was charged, and what was charged in vain.

use smallvec::SmallVec;

use crate::judge::{Entry, History, Promise};
use crate::process::Outcome;

/// The judge's record of one history so far: no more than the judges need, because it is part of
/// every state's fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ledger {
    /// Units whose callers were told yes, by the moment at which they count; in order of time.
    admissions: SmallVec<[(Moment, u64); 2]>,
    /// What was given back, in the order in which it was.
    given_back: SmallVec<[GivenBack; 1]>,
    /// Instants of charges that nobody was told about; in order of time, without repeats.
    untold: SmallVec<[u64; 2]>,
    /// Units charged that no caller was told about.
    waste: u64,
}

/// An instant, and how much had been given back before it: within a millisecond, an admission before
/// a refund is not one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) at: u64,
    refunds: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct GivenBack {
    at: u64,
    units: u64,
    admitted_at: u64,
}

/// What one step did to the ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Booking {
    /// An attempt ended, or its caller was told before its end that the work may go ahead.
    Settled(Attempted, Outcome),
    /// So many units were given back, of those that were admitted at this instant.
    GivenBack { units: u64, admitted_at: u64 },
}

/// What the commands of one attempt did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Attempted {
    /// When its caller was told that the work may go ahead, although the attempt goes on.
    pub(crate) told_at: Option<u64>,
    /// The moment of its last command that changed data.
    pub(crate) wrote_at: Option<Moment>,
    /// Units that it charged, less those that it gave back.
    pub(crate) charged: i64,
    /// The instant of its last command that charged.
    pub(crate) charged_at: Option<u64>,
}

impl Attempted {
    /// When it was admitted, if that is what its caller is told at `now`.
    pub(crate) fn admitted_at(&self, now: u64) -> u64 {
        self.wrote_at.map_or(now, |moment| moment.at)
    }
}

impl Ledger {
    /// The present moment, if the clock shows `now`.
    pub(crate) fn moment(&self, now: u64) -> Moment {
        Moment {
            at: now,
            refunds: self.given_back.len(),
        }
    }

    /// How often something was given back.
    pub(crate) fn refunds(&self) -> usize {
        self.given_back.len()
    }

    /// Writes down what a step did at `now`.
    pub(crate) fn book(&mut self, booking: Booking, cost: u64, now: u64) {
        match booking {
            Booking::Settled(attempted, outcome) => {
                self.settle(attempted, Some(outcome), cost, now);
            }
            Booking::GivenBack { units, admitted_at } => self.given_back.push(GivenBack {
                at: now,
                units,
                admitted_at,
            }),
        }
    }

    /// An attempt ended at `now`, and its caller was told `outcome`; `None` where there was nobody
    /// left to tell.
    pub(crate) fn settle(
        &mut self,
        attempted: Attempted,
        outcome: Option<Outcome>,
        cost: u64,
        now: u64,
    ) {
        let told = match outcome {
            Some(Outcome::Admitted) if attempted.told_at.is_none() => {
                let moment = attempted.wrote_at.unwrap_or_else(|| self.moment(now));
                self.admit(moment, cost);
                cost
            }
            _ => 0,
        };
        let charged = u64::try_from(attempted.charged).unwrap_or(0);
        self.waste += charged.saturating_sub(told);
        if told == 0
            && charged > 0
            && let Some(instant) = attempted.charged_at
            && let Err(at) = self.untold.binary_search(&instant)
        {
            self.untold.insert(at, instant);
        }
    }

    fn admit(&mut self, moment: Moment, units: u64) {
        match self.admissions.binary_search_by_key(&moment, |(at, _)| *at) {
            Ok(at) => self.admissions[at].1 += units,
            Err(at) => self.admissions.insert(at, (moment, units)),
        }
    }

    /// What was admitted and what was wasted, where all of it happened at `now` and nothing else was
    /// recorded: then whatever follows, more of both is worse.
    pub(crate) fn sums_at(&self, now: u64) -> Option<(u64, u64)> {
        if !self.given_back.is_empty() || self.untold.iter().any(|at| *at != now) {
            return None;
        }
        match self.admissions[..] {
            [] => Some((0, self.waste)),
            [(moment, units)] if moment.at == now => Some((units, self.waste)),
            _ => None,
        }
    }

    /// Instants at which units were admitted, in order of time.
    pub(crate) fn admitted_at(&self) -> impl Iterator<Item = u64> + '_ {
        self.admissions.iter().map(|(moment, _)| moment.at)
    }

    /// The most that counted at once of what `promise` speaks of, and what that is too much.
    pub(crate) fn judge(&self, promise: &Promise, cost: u64, clock_was_set: bool) -> (u64, u64) {
        promise.judge(&History {
            entries: &self.entries(),
            untold: &self.untold,
            cost,
            clock_was_set,
        })
    }

    fn entries(&self) -> SmallVec<[Entry; 4]> {
        let mut entries = SmallVec::new();
        let mut refunds = self.given_back.iter();
        let mut given = 0;
        let refund =
            |refund: &GivenBack| Entry::given_back(refund.at, refund.units, refund.admitted_at);
        for (moment, units) in &self.admissions {
            let before = moment.refunds - given;
            entries.extend(refunds.by_ref().take(before).map(refund));
            given = moment.refunds;
            entries.push(Entry::admitted(moment.at, *units));
        }
        entries.extend(refunds.map(refund));
        entries
    }

    /// Instants of charges that nobody was told about, in order of time.
    pub(crate) fn untold(&self) -> &[u64] {
        &self.untold
    }

    /// Units whose callers were told yes.
    pub(crate) fn admitted(&self) -> u64 {
        self.admissions.iter().map(|(_, units)| units).sum()
    }

    /// Units charged that no caller was told about: credit lost, never extra credit.
    pub(crate) fn waste(&self) -> u64 {
        self.waste
    }
}
