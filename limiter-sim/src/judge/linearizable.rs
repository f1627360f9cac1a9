//! Whether a history without faults could have been a history of single steps.
//!
//! Every call of a store that keeps the contract is one step: somewhere between its beginning and
//! its end it is judged by the rule and, if it fits, charged. So its history has an order of the
//! calls that keeps "ended before the other began", and in which the rule gives each caller the
//! answer that it was told. This looks for one: the search of Wing and Gong (1993), which takes any
//! call that may be next, and remembers from which states it found no way on (Lowe, 2017).

use std::collections::HashSet;
use std::ops::RangeInclusive;

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

/// Whether `calls` linearize against the first-arrival rule: a window opens at the first admission,
/// contains that instant to `window_ms` later, both included, and admits at most `limit` units.
///
/// `clock` are the instants that the clock has shown; between them it never stood.
pub fn linearizes(calls: &[Call], clock: &[u64], limit: u64, window_ms: u64) -> bool {
    let shown = calls
        .iter()
        .flat_map(|call| [*call.instants.start(), *call.instants.end()]);
    let mut clock: Vec<u64> = clock.iter().copied().chain(shown).collect();
    clock.sort_unstable();
    clock.dedup();
    let mut search = Search {
        calls,
        clock,
        limit,
        window_ms,
        hopeless: HashSet::new(),
    };
    search.goes_on(&mut vec![false; calls.len()], State::default())
}

/// The budget between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    now: u64,
    /// When the window opened, and what it has admitted.
    window: Option<(u64, u64)>,
}

struct Search<'a> {
    calls: &'a [Call],
    clock: Vec<u64>,
    limit: u64,
    window_ms: u64,
    hopeless: HashSet<(Vec<bool>, State)>,
}

impl Search<'_> {
    /// Whether the calls that are not `done` can follow from `state` on.
    fn goes_on(&mut self, done: &mut Vec<bool>, state: State) -> bool {
        let open = |number: &usize| !done[*number] && self.calls[*number].answer != Answer::Unknown;
        if !(0..self.calls.len()).any(|number| open(&number)) {
            return true;
        }
        if self.hopeless.contains(&(done.clone(), state)) {
            return false;
        }
        for number in self.next_calls(done) {
            done[number] = true;
            for after in self.steps(state, &self.calls[number]) {
                if self.goes_on(done, after) {
                    return true;
                }
            }
            done[number] = false;
        }
        self.hopeless.insert((done.clone(), state));
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
    fn steps(&self, state: State, call: &Call) -> Vec<State> {
        let possible = |at: &&u64| **at >= state.now && call.instants.contains(*at);
        let mut after = Vec::new();
        if call.answer == Answer::Unknown {
            after.push(state);
        }
        for at in self.clock.iter().filter(possible) {
            let window = state
                .window
                .filter(|(opened, _)| *at <= opened.saturating_add(self.window_ms));
            let (opened, used) = window.unwrap_or((*at, 0));
            let total = used.saturating_add(call.cost);
            let window = match (call.answer, total <= self.limit) {
                (Answer::Admitted | Answer::Unknown, true) => Some((opened, total)),
                (Answer::Denied, false) => window,
                _ => continue,
            };
            after.push(State { now: *at, window });
        }
        after
    }
}

#[cfg(test)]
mod tests;
