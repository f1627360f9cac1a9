//! The rolling window: at most `limit` units in every interval of `length`.

use super::history::{Entry, standings};

/// The most units in any closed interval of `length_ms`, each at the instant at which the last of
/// them was admitted.
///
/// Both ends belong to the interval, as to every window: a unit admitted at `t` counts up to
/// `t + length_ms`, and the next may take its place one millisecond later. An interval that is open
/// at one end would let a store do that a millisecond early.
pub fn rolling(history: &[Entry], length_ms: u64) -> u64 {
    let sums = standings(history).map(|standing| {
        let last = standing.last().map_or(0, |(at, _)| *at);
        let inside = standing.iter().filter(|(at, _)| last - at <= length_ms);
        inside.map(|(_, units)| units).sum()
    });
    sums.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn most(admissions: &[(u64, u64)]) -> u64 {
        let history: Vec<Entry> = admissions
            .iter()
            .map(|(at, units)| Entry::admitted(*at, *units))
            .collect();
        rolling(&history, 1000)
    }

    #[test]
    fn a_unit_counts_up_to_its_last_instant_and_not_a_millisecond_longer() {
        assert_eq!(most(&[]), 0);
        assert_eq!(most(&[(0, 5), (1001, 5)]), 5);
        assert_eq!(most(&[(0, 5), (1000, 1)]), 6);
    }

    #[test]
    fn no_interval_is_spared() {
        // First-arrival windows that open at 0 and at 1,001 would be full and no more.
        assert_eq!(most(&[(0, 1), (900, 4), (1001, 5)]), 9);
    }
}
