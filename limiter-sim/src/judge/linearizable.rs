//! Whether a history without faults could have been a history of single steps.
//!
//! Every call of a store that keeps the contract is one step: somewhere between its beginning and
//! its end it is judged by the rule and, if it fits, charged. So its history has an order of the
//! calls that keeps "ended before the other began", and in which the rule gives each caller the
//! answer that it was told. This looks for one: the search of Wing and Gong (1993), which takes any
//! call that may be next, and remembers from which states it found no way on (Lowe, 2017).

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::Promise;

/// What the caller was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Admitted,
    /// No.
    Denied,
    /// An error, or nothing: the call may have charged or not.
    Unknown,
}

/// One call, as its caller and a clock on the wall saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The steps in which it began and ended. Of two calls with a step in common, either may come
    /// first.
    pub steps: RangeInclusive<u64>,
    /// The instants in which it began and ended, in milliseconds.
    pub instants: RangeInclusive<u64>,
    /// Units that it asked for.
    pub cost: u64,
    /// What its caller was told.
    pub answer: Answer,
}

/// Whether `calls` linearize against the rule that `promise` speaks of: whether each was admitted if
/// and only if it fitted then.
///
/// `clock` are the instants that the clock has shown; between them it never stood. Clocks were never
/// set, and nothing was given back.
pub fn linearizes(calls: &[Call], clock: &[u64], promise: &Promise) -> bool {
    let shown = calls
        .iter()
        .flat_map(|call| [*call.instants.start(), *call.instants.end()]);
    let mut clock: Vec<u64> = clock.iter().copied().chain(shown).collect();
    clock.sort_unstable();
    clock.dedup();
    let mut search = Search {
        calls,
        clock,
        promise,
        hopeless: HashSet::new(),
    };
    search.goes_on(&mut vec![false; calls.len()], State::default())
}

/// The budget between two steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    now: u64,
    /// What was admitted at each instant, in order of time.
    admitted: Vec<(u64, u64)>,
}

impl State {
    /// Whether `cost` more units fit at `at`.
    fn has_room(&self, promise: &Promise, at: u64, cost: u64) -> bool {
        let sum = |counts: &dyn Fn(u64) -> bool| -> u64 {
            let counted = self.admitted.iter().filter(|(then, _)| counts(*then));
            counted.map(|(_, units)| units).sum()
        };
        let used = match promise {
            Promise::FirstArrival { length_ms, .. } => {
                let opened = self.opened(*length_ms, at);
                opened.map_or(0, |opened| sum(&|then| then >= opened))
            }
            Promise::Aligned { length_ms, .. } => sum(&|then| then / length_ms == at / length_ms),
            Promise::Rolling { length_ms, .. } => sum(&|then| then + length_ms >= at),
            Promise::InFlight { lease_ms, .. } => sum(&|then| then + lease_ms >= at),
            Promise::TokenBucket {
                limit, length_ms, ..
            } => self.out(*limit, *length_ms, at),
            Promise::All(promises) => {
                let mut each = promises.iter();
                return each.all(|promise| self.has_room(promise, at, cost));
            }
        };
        used.saturating_add(cost) <= promise.most()
    }

    /// When the window opened that contains `at`, if one does.
    fn opened(&self, length_ms: u64, at: u64) -> Option<u64> {
        let mut opened = None;
        for (then, _) in &self.admitted {
            if opened.is_none_or(|opened| *then > opened + length_ms) {
                opened = Some(*then);
            }
        }
        opened.filter(|opened| at <= opened + length_ms)
    }

    /// Units of a bucket that have not come back by `at`, a part of one counted as one.
    fn out(&self, limit: u64, length_ms: u64, at: u64) -> u64 {
        let (limit, length) = (u128::from(limit), u128::from(length_ms));
        let (mut parts, mut before) = (0_u128, at);
        for (then, units) in &self.admitted {
            let back = limit * u128::from(then.saturating_sub(before));
            parts = parts.saturating_sub(back) + length * u128::from(*units);
            before = *then;
        }
        let back = limit * u128::from(at.saturating_sub(before));
        let out = parts.saturating_sub(back).div_ceil(length);
        u64::try_from(out).unwrap_or(u64::MAX)
    }

    fn admit(&mut self, at: u64, cost: u64) {
        match self.admitted.last_mut() {
            Some((then, units)) if *then == at => *units = units.saturating_add(cost),
            _ => self.admitted.push((at, cost)),
        }
    }
}

struct Search<'a> {
    calls: &'a [Call],
    clock: Vec<u64>,
    promise: &'a Promise,
    hopeless: HashSet<(Vec<bool>, State)>,
}

impl Search<'_> {
    /// Whether the calls that are not `done` can follow from `state` on.
    fn goes_on(&mut self, done: &mut Vec<bool>, state: State) -> bool {
        let open = |number: &usize| !done[*number] && self.calls[*number].answer != Answer::Unknown;
        if !(0..self.calls.len()).any(|number| open(&number)) {
            return true;
        }
        let here = (done.clone(), state);
        if self.hopeless.contains(&here) {
            return false;
        }
        for number in self.next_calls(done) {
            done[number] = true;
            for after in self.steps(&here.1, &self.calls[number]) {
                if self.goes_on(done, after) {
                    return true;
                }
            }
            done[number] = false;
        }
        self.hopeless.insert(here);
        false
    }

    /// The calls that may come next: no other that is still to come had ended before they began.
    /// Those that end first come first.
    fn next_calls(&self, done: &[bool]) -> Vec<usize> {
        let open = || (0..self.calls.len()).filter(|number| !done[*number]);
        let first_end = open().map(|number| *self.calls[number].steps.end()).min();
        let may_be_next = |number: &usize| Some(*self.calls[*number].steps.start()) <= first_end;
        let mut next: Vec<usize> = open().filter(may_be_next).collect();
        next.sort_by_key(|number| *self.calls[*number].steps.end());
        next
    }

    /// What can become of the budget by this call, if it takes place now or later.
    fn steps(&self, state: &State, call: &Call) -> Vec<State> {
        let possible = |at: &&u64| **at >= state.now && call.instants.contains(*at);
        let mut after = Vec::new();
        if call.answer == Answer::Unknown {
            after.push(state.clone());
        }
        for at in self.clock.iter().filter(possible) {
            let fits = state.has_room(self.promise, *at, call.cost);
            let mut next = state.clone();
            next.now = *at;
            match (call.answer, fits) {
                (Answer::Admitted | Answer::Unknown, true) => next.admit(*at, call.cost),
                (Answer::Denied, false) => {}
                _ => continue,
            }
            after.push(next);
        }
        after
    }
}

#[cfg(test)]
mod tests;
