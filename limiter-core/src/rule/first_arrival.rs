//! The first-arrival window.
//!
//! The window opens at the first admission, contains the instants `t` to `t + length`, both
//! included, and admits at most `limit` units. A denial changes nothing. With a limit of 5 and a
//! length of 1,000 ms, admissions at 0, 10, 20, 30 and 40 fill the window that opened at 0; from 41
//! to 1,000 everything is denied; at 1,001 the next admission opens a new one.

use crate::{Cost, Length, Limit, Timestamp};

pub use super::window::{Judgement, Window};

/// Judges one request against the stored window, if there is one.
///
/// `stored` is what was stored last; a window that no longer contains `now` counts as none.
#[inline]
pub fn judge(
    stored: Option<Window>,
    now: Timestamp,
    limit: Limit,
    length: Length,
    cost: Cost,
) -> Judgement {
    let deadline = now.plus_millis(length.as_millis());
    super::window::judge(stored, now, deadline, limit, cost)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Wait;

    const LENGTH_MS: u64 = 1000;

    fn ask(stored: Option<Window>, at_ms: u64, limit: u64, cost: u64) -> Judgement {
        judge(
            stored,
            Timestamp::from_millis(at_ms),
            Limit::new(limit).unwrap(),
            Length::new(Duration::from_millis(LENGTH_MS)).unwrap(),
            Cost::new(cost).unwrap(),
        )
    }

    fn window(total: u64, deadline_ms: u64) -> Window {
        Window {
            total,
            deadline: Timestamp::from_millis(deadline_ms),
        }
    }

    #[test]
    fn the_first_admission_opens_the_window_and_sets_its_deadline() {
        assert_eq!(ask(None, 500, 5, 2), Judgement::Admit(window(2, 1500)));
    }

    #[test]
    fn later_admissions_keep_the_deadline() {
        let judged = ask(Some(window(2, 1500)), 1400, 5, 3);
        assert_eq!(judged, Judgement::Admit(window(5, 1500)));
    }

    #[test]
    fn the_last_instant_still_belongs_to_the_window_and_the_next_one_opens_a_new_one() {
        let full = Some(window(5, 1500));
        let wait = Wait::For(Duration::from_millis(1));
        let denied = Judgement::Deny { remaining: 0, wait };
        assert_eq!(ask(full, 1500, 5, 1), denied);
        assert_eq!(ask(full, 1501, 5, 1), Judgement::Admit(window(1, 2501)));
    }

    #[test]
    fn asking_again_after_the_wait_is_admitted_and_a_millisecond_earlier_is_not() {
        let full = Some(window(5, 1500));
        let Judgement::Deny {
            wait: Wait::For(wait),
            ..
        } = ask(full, 700, 5, 1)
        else {
            panic!("a full window denies");
        };
        let due = 700 + u64::try_from(wait.as_millis()).unwrap();
        assert!(matches!(ask(full, due - 1, 5, 1), Judgement::Deny { .. }));
        assert!(matches!(ask(full, due, 5, 1), Judgement::Admit(_)));
    }

    #[test]
    fn a_cost_above_the_limit_can_never_be_admitted() {
        let wait = Wait::Never;
        let remaining = 5;
        assert_eq!(ask(None, 0, 5, 6), Judgement::Deny { remaining, wait });
    }

    #[test]
    fn a_limit_of_zero_denies_all() {
        let wait = Wait::Never;
        let remaining = 0;
        assert_eq!(ask(None, 0, 0, 1), Judgement::Deny { remaining, wait });
    }

    #[test]
    fn a_total_above_a_lowered_limit_is_valid_and_leaves_nothing() {
        let wait = Wait::For(Duration::from_millis(501));
        let remaining = 0;
        let judged = ask(Some(window(9, 1500)), 1000, 5, 1);
        assert_eq!(judged, Judgement::Deny { remaining, wait });
    }

    #[test]
    fn time_that_steps_back_gives_no_credit() {
        let full = Some(window(5, 20_000));
        assert!(matches!(ask(full, 1, 5, 1), Judgement::Deny { .. }));
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let max = crate::MAX_UNITS;
        let judged = ask(Some(window(max - 1, 1500)), 1000, max, 1);
        assert_eq!(judged, Judgement::Admit(window(max, 1500)));
        assert!(matches!(
            ask(Some(window(max, 1500)), 1000, max, max),
            Judgement::Deny { .. }
        ));
    }
}
