//! The aligned window.
//!
//! Windows are cut at the multiples of `length` in store time, and are half-open: with a length of
//! 1,000 ms one contains the instants 5,000 to 5,999. At most `limit` units are admitted in each.
//! With a limit of 5, five admissions from 5,990 to 5,999 and five more from 6,000 to 6,009 are ten
//! within 20 ms: up to twice the limit can pass around a boundary.
//!
//! A stored window that has not ended is the current one, also where the clock stepped back to
//! before it began: a fresh window there would give the same units again when time comes by.

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
    super::window::judge(stored, now, last_instant(now, length), limit, cost)
}

/// The last instant of the window of `length` that contains `now`.
#[inline]
pub fn last_instant(now: Timestamp, length: Length) -> Timestamp {
    let past_ms = now.as_millis() % length.as_millis();
    now.plus_millis(length.as_millis() - 1 - past_ms)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Wait;

    fn ask(stored: Option<Window>, at_ms: u64, limit: u64, cost: u64) -> Judgement {
        judge(
            stored,
            Timestamp::from_millis(at_ms),
            Limit::new(limit).unwrap(),
            Length::new(Duration::from_secs(1)).unwrap(),
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
    fn a_window_ends_just_before_the_next_multiple_whenever_it_is_opened() {
        for at_ms in [5000, 5001, 5999] {
            assert_eq!(ask(None, at_ms, 5, 2), Judgement::Admit(window(2, 5999)));
        }
        assert_eq!(ask(None, 6000, 5, 2), Judgement::Admit(window(2, 6999)));
    }

    #[test]
    fn twice_the_limit_can_pass_around_a_boundary() {
        let full = Some(window(5, 5999));
        let wait = Wait::For(Duration::from_millis(1));
        let remaining = 0;
        assert_eq!(ask(full, 5999, 5, 1), Judgement::Deny { remaining, wait });
        assert_eq!(ask(full, 6000, 5, 5), Judgement::Admit(window(5, 6999)));
    }

    #[test]
    fn a_stored_window_is_the_current_one_where_the_clock_stepped_back() {
        let full = Some(window(5, 20_999));
        let wait = Wait::For(Duration::from_millis(11_000));
        let remaining = 0;
        assert_eq!(
            ask(full, 9_999 + 1, 5, 1),
            Judgement::Deny { remaining, wait }
        );
    }
}
