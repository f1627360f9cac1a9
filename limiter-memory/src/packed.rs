//! A stored window in twelve bytes.

use limiter_core::rule::first_arrival::Window;
use limiter_core::{Length, MAX_UNITS, Timestamp};

/// A window: 53 bits of its total and 43 bits of its deadline.
///
/// Two `u64` would make an entry of the map 40 bytes; so it has 32, and none straddles two cache
/// lines. 53 bits hold every number of units, 43 bits of milliseconds reach to the year 2248. The
/// words are `u32`, so that the whole has an alignment of four and fits behind a 20-byte key without
/// padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedWindow([u32; 3]);

const TOTAL_BITS: u32 = 53;
const DEADLINE_BITS: u32 = 43;
/// Bits of the deadline that share a word with the total.
const SHARED_BITS: u32 = 64 - TOTAL_BITS;

/// The latest instant at which a window can open: the deadline of the longest one still fits.
pub(crate) const LATEST: Timestamp =
    Timestamp::from_millis((1 << DEADLINE_BITS) - 1 - Length::MAX_MS);

const _: () = assert!(MAX_UNITS < 1 << TOTAL_BITS);

impl PackedWindow {
    /// The caller keeps both in their bounds.
    #[inline]
    fn new(total: u64, deadline: Timestamp) -> Self {
        let ms = deadline.as_millis();
        debug_assert!(total < 1 << TOTAL_BITS, "a total of at most 53 bits");
        debug_assert!(ms < 1 << DEADLINE_BITS, "a deadline of at most 43 bits");
        let word = total | (ms << TOTAL_BITS);
        Self([word as u32, (word >> 32) as u32, (ms >> SHARED_BITS) as u32])
    }

    #[inline]
    fn word(self) -> u64 {
        u64::from(self.0[0]) | (u64::from(self.0[1]) << 32)
    }

    #[inline]
    fn total(self) -> u64 {
        self.word() & ((1 << TOTAL_BITS) - 1)
    }

    #[inline]
    fn deadline(self) -> Timestamp {
        let high = u64::from(self.0[2]) << SHARED_BITS;
        Timestamp::from_millis(high | (self.word() >> TOTAL_BITS))
    }

    /// Whether the window is over.
    #[inline]
    pub(crate) fn is_past(self, now: Timestamp) -> bool {
        !Window::from(self).contains(now)
    }
}

impl From<Window> for PackedWindow {
    #[inline]
    fn from(window: Window) -> Self {
        Self::new(window.total, window.deadline)
    }
}

impl From<PackedWindow> for Window {
    #[inline]
    fn from(packed: PackedWindow) -> Self {
        Self {
            total: packed.total(),
            deadline: packed.deadline(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_come_back_at_every_power_of_two() {
        for total in (0..TOTAL_BITS).map(|bit| (1_u64 << bit) - 1) {
            for ms in (0..=DEADLINE_BITS).map(|bit| (1_u64 << bit) - 1) {
                let deadline = Timestamp::from_millis(ms);
                let packed = PackedWindow::new(total, deadline);
                assert_eq!((packed.total(), packed.deadline()), (total, deadline));
            }
        }
        let largest = PackedWindow::new(MAX_UNITS, LATEST.plus_millis(Length::MAX_MS));
        assert_eq!(largest.total(), MAX_UNITS);
        assert_eq!(largest.0, [u32::MAX; 3]);
    }
}
