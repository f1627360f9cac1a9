//! How much one window admitted, in the reading of the history that is kindest to the store.

/// The units that the fullest window admitted, in the kindest reading.
///
/// `admissions` are units by the instant at which they count, `untold` the instants of charges that
/// nobody was told about (they can have opened a window); both in order of time, in milliseconds.
///
/// A *reading* says which instants opened a window: each at least `window_ms` after the one before,
/// so that every admission lies in a window, which contains its opener `o` to `o + window_ms`. What
/// happened at exactly `o + window_ms` may count in that window or, if another opens at that very
/// instant, in the next one, `cost` units at a time. The answer is the smallest, over all readings,
/// of the largest sum. What it exceeds the limit by is overspend.
pub fn max_admitted(admissions: &[(u64, u64)], untold: &[u64], window_ms: u64, cost: u64) -> u64 {
    let total: u64 = admissions.iter().map(|(_, units)| units).sum();
    let within_one_window = match (admissions.first(), admissions.last()) {
        (Some((first, _)), Some((last, _))) => last - first < window_ms && untold.is_empty(),
        _ => true,
    };
    if within_one_window {
        return total;
    }
    let history = History::new(admissions, untold, window_ms, cost);
    // Feasible bounds are upward closed, so the smallest is found by bisection.
    let (mut infeasible, mut feasible) = (0, total);
    while feasible - infeasible > 1 {
        let middle = infeasible + (feasible - infeasible) / 2;
        if history.fits(middle) {
            feasible = middle;
        } else {
            infeasible = middle;
        }
    }
    feasible
}

struct History {
    /// Every instant at which something was admitted or charged, with the units admitted.
    instants: Vec<(u64, u64)>,
    window_ms: u64,
    cost: u64,
}

impl History {
    fn new(admissions: &[(u64, u64)], untold: &[u64], window_ms: u64, cost: u64) -> Self {
        let mut instants = admissions.to_vec();
        for instant in untold {
            if let Err(at) = instants.binary_search_by_key(instant, |(at, _)| *at) {
                instants.insert(at, (*instant, 0));
            }
        }
        Self {
            instants,
            window_ms,
            cost,
        }
    }

    /// Whether there is a reading in which no window has more than `bound` units.
    fn fits(&self, bound: u64) -> bool {
        let count = self.instants.len();
        // For each instant as an opener: the most of its own units that the window before can take
        // over; `None` where it cannot be an opener.
        let mut taken_over: Vec<Option<u64>> = vec![None; count];
        for (at, (_, units)) in self.instants.iter().enumerate() {
            taken_over[at] = Some(0);
            if *units > 0 {
                break;
            }
        }
        for opener in 0..count {
            let Some(taken) = taken_over[opener] else {
                continue;
            };
            let start = self.instants[opener].0;
            let end = start + self.window_ms;
            let inside = |(at, _): &&(u64, u64)| (start..end).contains(at);
            let sum = self
                .instants
                .iter()
                .filter(inside)
                .map(|(_, units)| units)
                .sum::<u64>()
                - taken;
            if sum > bound {
                continue;
            }
            let room = (bound - sum) / self.cost * self.cost;
            let on_the_edge = self.units_at(end);
            // Another window can open at the very end of this one, and share what happened then.
            if let Ok(next) = self.index_of(end) {
                let take = on_the_edge.min(room);
                taken_over[next] = Some(taken_over[next].map_or(take, |best| best.max(take)));
            }
            if on_the_edge > room {
                continue;
            }
            // Or later; but no admission may be left between.
            let first_after = self.instants.partition_point(|(at, _)| *at <= end);
            let later = self.instants.iter().zip(&mut taken_over).skip(first_after);
            for ((_, units), taken) in later {
                *taken = Some(taken.unwrap_or(0));
                if *units > 0 {
                    break;
                }
            }
            if self.instants[first_after..]
                .iter()
                .all(|(_, units)| *units == 0)
            {
                return true;
            }
        }
        false
    }

    fn index_of(&self, instant: u64) -> Result<usize, usize> {
        self.instants.binary_search_by_key(&instant, |(at, _)| *at)
    }

    fn units_at(&self, instant: u64) -> u64 {
        self.index_of(instant).map_or(0, |at| self.instants[at].1)
    }
}

#[cfg(test)]
mod reference;

#[cfg(test)]
mod tests {
    use super::max_admitted;

    #[test]
    fn an_empty_history_admitted_nothing() {
        assert_eq!(max_admitted(&[], &[], 1000, 1), 0);
        assert_eq!(max_admitted(&[], &[7], 1000, 1), 0);
    }

    #[test]
    fn all_that_one_window_holds_counts_together() {
        assert_eq!(max_admitted(&[(0, 3), (999, 2)], &[], 1000, 1), 5);
    }

    #[test]
    fn what_comes_after_the_window_opens_the_next_one() {
        assert_eq!(max_admitted(&[(0, 5), (1001, 5)], &[], 1000, 1), 5);
    }

    #[test]
    fn what_happens_exactly_at_the_end_may_count_in_either_window() {
        assert_eq!(max_admitted(&[(0, 5), (1000, 5)], &[], 1000, 1), 5);
        assert_eq!(max_admitted(&[(0, 4), (1000, 6)], &[], 1000, 1), 5);
        assert_eq!(max_admitted(&[(0, 4), (1000, 6)], &[], 1000, 2), 6);
    }

    #[test]
    fn an_early_new_window_is_overspend() {
        assert_eq!(max_admitted(&[(0, 5), (999, 5)], &[], 1000, 1), 10);
    }

    #[test]
    fn a_charge_that_nobody_was_told_about_can_have_opened_the_window() {
        // With an opener at 0 the admissions at 900 and 1,100 lie in two windows.
        assert_eq!(max_admitted(&[(900, 5), (1100, 5)], &[], 1000, 1), 10);
        assert_eq!(max_admitted(&[(900, 5), (1100, 5)], &[0], 1000, 1), 5);
    }

    #[test]
    fn an_admission_needs_a_window_that_contains_it() {
        // The opener at 0 does not reach 1,200, so 1,200 opens its own.
        assert_eq!(
            max_admitted(&[(900, 5), (1200, 5), (1950, 5)], &[0], 1000, 1),
            10
        );
    }
}
