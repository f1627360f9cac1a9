//! The token bucket: `limit` units per `length` come back evenly, and up to `burst` are saved up.

use super::history::{Entry, standings};

/// The most units that were out at once: what was admitted in an interval, less what came back in
/// it, over all intervals, rounded up. A bucket keeps its promise where that is at most its burst.
///
/// This is the virtual scheduling of the GCRA (ITU-T I.371) turned around: all numbers are
/// multiplied by the length, so that what comes back in a millisecond is a whole number and nothing
/// is rounded before the end. A store that cuts what came back down to whole units, and keeps the
/// rest, admits at the same instants as this; one that rounds up is found out. There is no last
/// millisecond as in a window: a unit is back at the very instant at which it is whole.
///
/// What was given back counts as never admitted, from its own date on: what had come back of it by
/// then does not come back twice.
pub fn bucket(history: &[Entry], limit: u64, length_ms: u64) -> u64 {
    let (limit, length) = (u128::from(limit), u128::from(length_ms));
    let mut most = 0;
    for standing in standings(history) {
        let (mut out, mut before) = (0_u128, 0);
        for (at, units) in standing {
            let back = limit.saturating_mul(u128::from(at - before));
            out = out.saturating_sub(back) + length * u128::from(units);
            before = at;
        }
        most = most.max(out);
    }
    u64::try_from(most.div_ceil(length.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 units per second: one in 100 ms.
    fn most(admissions: &[(u64, u64)]) -> u64 {
        let history: Vec<Entry> = admissions
            .iter()
            .map(|(at, units)| Entry::admitted(*at, *units))
            .collect();
        bucket(&history, 10, 1000)
    }

    #[test]
    fn a_unit_is_back_when_it_is_whole_and_not_a_millisecond_before() {
        assert_eq!(most(&[]), 0);
        assert_eq!(most(&[(0, 5), (100, 1)]), 5);
        assert_eq!(most(&[(0, 5), (99, 1)]), 6);
    }

    #[test]
    fn no_more_is_saved_up_than_was_spent() {
        assert_eq!(most(&[(0, 1), (5000, 5), (5000, 1)]), 6);
    }

    #[test]
    fn parts_of_a_unit_add_up() {
        assert_eq!(most(&[(0, 5), (150, 1), (200, 1)]), 5);
        assert_eq!(most(&[(0, 5), (150, 1), (199, 1)]), 6);
    }

    #[test]
    fn what_has_come_back_by_itself_is_not_given_back_as_well() {
        let history = |again| {
            [
                Entry::admitted(0, 5),
                Entry::given_back(300, 5, 0),
                Entry::admitted(300, again),
            ]
        };
        assert_eq!(bucket(&history(5), 10, 1000), 5);
        assert_eq!(bucket(&history(6), 10, 1000), 6);
    }
}
