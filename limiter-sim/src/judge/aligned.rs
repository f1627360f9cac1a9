//! The aligned window: windows are cut at the multiples of `length` in store time.

use super::history::{Entry, most_together, standings};

/// The most units in one aligned window, which holds its first instant and not the next one's.
///
/// While no clock was set, store time is reference time, and the windows are those of the reference
/// clock. A server whose clock was set cuts at other instants from then on, and that alone breaks no
/// promise; so with `clock_was_set` the cuts may be anywhere, in the reading that is kindest to the
/// store. But each still lasts at least `length_ms` of reference time: a clock that was set forward
/// past a cut gives the limit once more, and that is overspend, as it is for the first-arrival
/// window; one that was set back makes a window longer, and gives nothing.
pub fn aligned(history: &[Entry], length_ms: u64, clock_was_set: bool) -> u64 {
    if clock_was_set {
        return in_kindest_reading(history, length_ms);
    }
    let sums = standings(history).map(|standing| {
        let window = standing.last().map_or(0, |(at, _)| at / length_ms);
        let inside = standing.iter().filter(|(at, _)| at / length_ms == window);
        inside.map(|(_, units)| units).sum()
    });
    sums.max().unwrap_or(0)
}

fn in_kindest_reading(history: &[Entry], length_ms: u64) -> u64 {
    let total = most_together(history);
    (0..=total)
        .find(|bound| fits(history, length_ms, *bound))
        .unwrap_or(total)
}

/// Whether there are cuts, each at least `length_ms` after the one before, between which no window
/// has more than `bound` units.
fn fits(history: &[Entry], length_ms: u64, bound: u64) -> bool {
    let count = history.len();
    // For each entry: the earliest instant of a cut in front of it. An earlier one only leaves more
    // room for those that follow. The first window may have begun any time before.
    let mut cut: Vec<Option<u64>> = vec![None; count];
    for next in 0..=count {
        for first in 0..next {
            let begins = if first == 0 {
                Some(None)
            } else {
                cut[first].map(Some)
            };
            let Some(begins) = begins else { continue };
            if most_together(&history[first..next]) > bound {
                continue;
            }
            if next == count {
                return true;
            }
            let after = history[next - 1].at + 1;
            let earliest = begins.map_or(after, |cut: u64| after.max(cut + length_ms));
            if earliest <= history[next].at {
                let best = cut[next].map_or(earliest, |known| known.min(earliest));
                cut[next] = Some(best);
            }
        }
    }
    count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(admissions: &[(u64, u64)]) -> Vec<Entry> {
        let entries = admissions.iter();
        entries
            .map(|(at, units)| Entry::admitted(*at, *units))
            .collect()
    }

    #[test]
    fn a_window_has_its_first_instant_and_not_its_last() {
        assert_eq!(aligned(&of(&[(999, 5), (1000, 5)]), 1000, false), 5);
        assert_eq!(aligned(&of(&[(1000, 5), (1999, 5)]), 1000, false), 10);
        assert_eq!(aligned(&[], 1000, false), 0);
    }

    #[test]
    fn a_clock_that_was_set_may_cut_elsewhere() {
        let shifted = of(&[(300, 5), (1300, 5), (2300, 5)]);
        assert_eq!(aligned(&shifted, 1000, true), 5);
        let shifted = of(&[(1200, 5), (1600, 5), (2650, 5)]);
        assert_eq!(aligned(&shifted, 1000, true), 5);
        assert_eq!(aligned(&shifted, 1000, false), 10);
    }

    #[test]
    fn a_clock_that_was_set_forward_gives_no_credit() {
        assert_eq!(aligned(&of(&[(100, 5), (100, 5)]), 1000, true), 10);
        assert_eq!(aligned(&of(&[(0, 5), (500, 5), (999, 5)]), 1000, true), 10);
    }

    #[test]
    fn what_was_given_back_leaves_room_in_its_window() {
        let history = [
            Entry::admitted(0, 5),
            Entry::given_back(10, 2, 0),
            Entry::admitted(20, 2),
        ];
        for was_set in [false, true] {
            assert_eq!(aligned(&history, 1000, was_set), 5);
        }
    }
}
