//! A window whose charges can be given back.
//!
//! The count of what was charged only grows, so each admission still has a total of its own: its
//! serial. What was refunded is counted beside it, and each refunded serial is remembered until the
//! window ends, so that no charge is given back twice. With a limit of 5: a charge of 3 (serial 3),
//! one of 2 (serial 5), a refund of the first; 2 of 5 are spent, and a charge of 3 gets serial 8.

use std::time::Duration;

use crate::{Cost, Limit, MAX_UNITS, Refunded, Timestamp, WindowIdentity};

use super::verdict::{Verdict, until};

/// An open refundable window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefundableWindow {
    pub(super) charged: u64,
    pub(super) refunded: u64,
    pub(super) deadline: Timestamp,
    pub(super) identity: WindowIdentity,
    /// In ascending order.
    pub(super) serials: Vec<u64>,
}

impl RefundableWindow {
    /// A window that nothing was charged to yet.
    pub fn open(identity: WindowIdentity, deadline: Timestamp) -> Self {
        Self {
            charged: 0,
            refunded: 0,
            deadline,
            identity,
            serials: Vec::new(),
        }
    }

    /// Whether the window contains `now`; also where time stepped back to before it opened.
    pub fn contains(&self, now: Timestamp) -> bool {
        now <= self.deadline
    }

    /// Its last instant.
    pub fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// What tells it from others on the same key.
    pub fn identity(&self) -> WindowIdentity {
        self.identity
    }

    /// Units charged so far, refunds not subtracted: the serial of the latest admission.
    pub fn charged(&self) -> u64 {
        self.charged
    }

    /// Units charged and not refunded.
    pub fn spent(&self) -> u64 {
        self.charged - self.refunded
    }

    /// Units that `limit` leaves. The count of what was charged must stay a number that every store
    /// can hold: what would take it beyond has to wait for the next window.
    pub fn remaining(&self, limit: Limit) -> u64 {
        let countable = MAX_UNITS - self.charged;
        limit.get().saturating_sub(self.spent()).min(countable)
    }

    /// How long until the window is over.
    pub fn resets_in(&self, now: Timestamp) -> Duration {
        until(now, self.deadline.plus_millis(1))
    }

    /// Judges one charge against the stored window, if there is one.
    pub fn judge(stored: Option<&Self>, now: Timestamp, limit: Limit, cost: Cost) -> Verdict {
        let open = stored.filter(|window| window.contains(now));
        let remaining = open.map_or(limit.get(), |window| window.remaining(limit));
        if cost.get() > limit.get() {
            return Verdict::never(remaining);
        }
        match open {
            Some(window) if cost.get() > remaining => {
                Verdict::deny_until(now, window.deadline.plus_millis(1), remaining)
            }
            _ => Verdict::Admit,
        }
    }

    /// Charges what was judged admissible, and returns its serial.
    pub fn charge(&mut self, cost: Cost) -> u64 {
        self.charged += cost.get();
        self.charged
    }

    /// Gives back the charge with `serial` of the window with `identity`.
    pub fn refund(
        &mut self,
        now: Timestamp,
        identity: WindowIdentity,
        serial: u64,
        cost: Cost,
    ) -> Refunded {
        if !self.contains(now) || self.identity != identity || serial > self.charged {
            return Refunded::Late;
        }
        let Err(place) = self.serials.binary_search(&serial) else {
            return Refunded::Repeated;
        };
        if self.serials.len() >= Refunded::MAX_PER_WINDOW {
            return Refunded::Refused;
        }
        let units = cost.get().min(self.spent());
        self.serials.insert(place, serial);
        self.refunded += units;
        Refunded::Credited { units }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: WindowIdentity = WindowIdentity([7; 16]);
    const NOW: Timestamp = Timestamp::from_millis(1000);

    fn cost(units: u64) -> Cost {
        Cost::new(units).unwrap()
    }

    fn window() -> RefundableWindow {
        RefundableWindow::open(ID, Timestamp::from_millis(1999))
    }

    #[test]
    fn a_refund_gives_back_its_cost_once_and_no_total_comes_twice() {
        let (mut window, five) = (window(), Limit::new(5).unwrap());
        assert_eq!((window.charge(cost(3)), window.charge(cost(2))), (3, 5));
        let units = 3;
        assert_eq!(
            window.refund(NOW, ID, 3, cost(3)),
            Refunded::Credited { units }
        );
        assert_eq!(window.refund(NOW, ID, 3, cost(3)), Refunded::Repeated);
        assert_eq!(window.remaining(five), 3);
        assert_eq!(window.charge(cost(3)), 8);
    }

    #[test]
    fn a_refund_after_the_window_or_of_another_one_is_late() {
        let mut window = window();
        window.charge(cost(3));
        let other = WindowIdentity([8; 16]);
        assert_eq!(window.refund(NOW, other, 3, cost(3)), Refunded::Late);
        let after = Timestamp::from_millis(2000);
        assert_eq!(window.refund(after, ID, 3, cost(3)), Refunded::Late);
        assert_eq!(window.spent(), 3);
    }

    #[test]
    fn a_window_remembers_1024_refunds_and_then_refuses() {
        let mut window = window();
        for _ in 0..=Refunded::MAX_PER_WINDOW {
            window.charge(Cost::ONE);
        }
        for serial in 1..=1024 {
            let credited = Refunded::Credited { units: 1 };
            assert_eq!(window.refund(NOW, ID, serial, Cost::ONE), credited);
        }
        assert_eq!(window.refund(NOW, ID, 1025, Cost::ONE), Refunded::Refused);
        assert_eq!(window.refund(NOW, ID, 1024, Cost::ONE), Refunded::Repeated);
        assert_eq!(window.spent(), 1);
    }

    #[test]
    fn what_was_charged_stays_a_number_that_every_store_can_hold() {
        let (mut window, most) = (window(), Limit::new(MAX_UNITS).unwrap());
        window.charge(cost(MAX_UNITS));
        let _ = window.refund(NOW, ID, MAX_UNITS, cost(MAX_UNITS));
        assert_eq!((window.spent(), window.remaining(most)), (0, 0));
        let denied = RefundableWindow::judge(Some(&window), NOW, most, Cost::ONE);
        let due = Timestamp::from_millis(2000);
        assert_eq!(denied, Verdict::deny_until(NOW, due, 0));
    }
}
