//! What was admitted, what was charged, and what was charged in vain.

use smallvec::SmallVec;

use crate::process::Outcome;

/// The judge's record of one history so far: no more than the judges need, because it is part of
/// every state's fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ledger {
    /// Units whose callers were told yes, by the instant at which they count; in order of time.
    admissions: SmallVec<[(u64, u64); 2]>,
    /// Instants of charges that nobody was told about; in order of time, without repeats.
    untold: SmallVec<[u64; 2]>,
    /// Units charged that no caller was told about.
    waste: u64,
}

/// What the commands of one attempt did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Attempted {
    /// The instant of its last command that changed data.
    pub(crate) wrote_at: Option<u64>,
    /// Units that it charged, less those that it gave back.
    pub(crate) charged: i64,
    /// The instant of its last command that charged.
    pub(crate) charged_at: Option<u64>,
}

impl Ledger {
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
            Some(Outcome::Admitted) => {
                self.admit(attempted.wrote_at.unwrap_or(now), cost);
                cost
            }
            Some(Outcome::Denied | Outcome::Failed) | None => 0,
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

    fn admit(&mut self, instant: u64, units: u64) {
        match self
            .admissions
            .binary_search_by_key(&instant, |(at, _)| *at)
        {
            Ok(at) => self.admissions[at].1 += units,
            Err(at) => self.admissions.insert(at, (instant, units)),
        }
    }

    /// What was admitted and what was wasted, where all of it happened at `now` and nothing else was
    /// recorded: then whatever follows, more of both is worse.
    pub(crate) fn sums_at(&self, now: u64) -> Option<(u64, u64)> {
        let untold = self.untold.iter().all(|at| *at == now);
        match self.admissions[..] {
            [] if untold => Some((0, self.waste)),
            [(at, units)] if untold && at == now => Some((units, self.waste)),
            _ => None,
        }
    }

    /// Units whose callers were told yes, by instant, in order of time.
    pub(crate) fn admissions(&self) -> &[(u64, u64)] {
        &self.admissions
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
