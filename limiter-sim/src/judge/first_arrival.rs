//! The first-arrival window where units are given back.

use super::history::{Change, Entry, most_together};
use super::overspend;

/// The units that the fullest window had at once, in the reading that is kindest to the store. What
/// a reading is says [`max_admitted`](super::max_admitted), which this is where nothing was given
/// back.
///
/// A refund gives room only in the window in which its units were admitted. Where a window opens in
/// the very millisecond in which another ends, what happened then is in the old one up to some
/// point, and in the new one from there on: windows follow each other also within a millisecond.
pub fn first_arrival(history: &[Entry], untold: &[u64], length_ms: u64, cost: u64) -> u64 {
    let admissions = by_instant(history);
    let is_refund = |entry: &Entry| matches!(entry.change, Change::GivenBack { .. });
    if !history.iter().any(is_refund) {
        return overspend::max_admitted(&admissions, untold, length_ms, cost);
    }
    let calls = call_by_call(history, cost);
    let openers = openers(&admissions, untold);
    let total = most_together(history);
    (0..=total)
        .find(|bound| fits(&calls, &openers, length_ms, *bound))
        .unwrap_or(total)
}

/// What was admitted at each instant, whatever became of it.
fn by_instant(history: &[Entry]) -> Vec<(u64, u64)> {
    let mut admissions: Vec<(u64, u64)> = Vec::new();
    for entry in history {
        match (entry.change, admissions.last_mut()) {
            (Change::Admitted(units), Some((at, sum))) if *at == entry.at => *sum += units,
            (Change::Admitted(units), _) => admissions.push((entry.at, units)),
            (Change::GivenBack { .. }, _) => {}
        }
    }
    admissions
}

/// The same history with an entry for each call: calls are not divided between windows.
fn call_by_call(history: &[Entry], cost: u64) -> Vec<Entry> {
    let calls = history.iter().flat_map(|entry| match entry.change {
        Change::Admitted(units) => vec![
            Entry::admitted(entry.at, cost);
            usize::try_from(units / cost).expect("calls are counted")
        ],
        Change::GivenBack { .. } => vec![*entry],
    });
    calls.collect()
}

fn openers(admissions: &[(u64, u64)], untold: &[u64]) -> Vec<u64> {
    let told = admissions.iter().map(|(at, _)| *at);
    let mut openers: Vec<u64> = told.chain(untold.iter().copied()).collect();
    openers.sort_unstable();
    openers.dedup();
    openers
}

/// Whether there is a reading in which no window has more than `bound` units.
fn fits(calls: &[Entry], openers: &[u64], length_ms: u64, bound: u64) -> bool {
    // Windows that can begin with an entry, by that entry and their opener.
    let mut begun = vec![vec![false; openers.len()]; calls.len()];
    for (number, opener) in openers.iter().enumerate() {
        begun[0][number] = *opener <= calls[0].at;
    }
    for first in 0..calls.len() {
        for (number, opener) in openers.iter().enumerate() {
            if !begun[first][number] {
                continue;
            }
            for next in first + 1..=calls.len() {
                let last = calls[next - 1];
                let is_admission = matches!(last.change, Change::Admitted(_));
                if is_admission && last.at > opener + length_ms
                    || most_together(&calls[first..next]) > bound
                {
                    break;
                }
                let Some(following) = calls.get(next) else {
                    return true;
                };
                for (later, other) in openers.iter().enumerate() {
                    if *other >= opener + length_ms && *other <= following.at {
                        begun[next][later] = true;
                    }
                }
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_leaves_room_in_its_window() {
        let history = [
            Entry::admitted(0, 5),
            Entry::given_back(10, 2, 0),
            Entry::admitted(20, 2),
        ];
        assert_eq!(first_arrival(&history, &[], 1000, 1), 5);
    }

    #[test]
    fn a_refund_from_the_window_before_gives_nothing() {
        let history = [
            Entry::admitted(0, 5),
            Entry::admitted(1001, 5),
            Entry::given_back(1002, 2, 0),
            Entry::admitted(1003, 2),
        ];
        assert_eq!(first_arrival(&history, &[], 1000, 1), 7);
    }

    #[test]
    fn a_window_that_opened_early_is_overspend_whatever_is_given_back_later() {
        let history = [
            Entry::admitted(0, 5),
            Entry::admitted(999, 5),
            Entry::given_back(999, 5, 0),
        ];
        assert_eq!(first_arrival(&history, &[], 1000, 1), 10);
    }
}
