//! The time of the processor's tick counter, corrected by the operating system's clock.
//!
//! Asking the operating system costs 35 to 40 ns, as much as all the rest of a decision; reading the
//! counter and scaling it costs half of that. But a counter that is off by ten parts in a million is
//! off by a second after a day, and an aligned window has to begin on time after months. So once a
//! second whoever comes first compares the two.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use limiter_core::{Clock, SystemClock, Timestamp};

/// Shows what [`SystemClock`] shows, at half the cost.
///
/// It reads the processor's tick counter where that runs evenly and does not stop, and the monotonic
/// clock elsewhere. Once a second, at the next reading, it is corrected by the monotonic clock; until
/// then it is off by what the counter drifts in a second, which is microseconds. A correction can set
/// it back by as much: a store's time stands still then.
///
/// Like [`SystemClock`] it asks for the wall time once, when it is made.
pub struct CounterClock {
    counter: quanta::Clock,
    begun: Begun,
    /// Milliseconds in a tick, times 2^64: so one multiplication, of which the upper half is kept, makes
    /// milliseconds of ticks.
    ms_per_tick: u64,
    /// What is to be added to the ticks since the beginning.
    correction: AtomicI64,
    /// The tick at which the next correction is due.
    due: AtomicU64,
}

/// One instant, on all clocks.
#[derive(Clone, Copy, Debug)]
struct Begun {
    ticks: u64,
    monotonic: Instant,
    wall: Timestamp,
}

const NS_PER_MS: u128 = 1_000_000;
const MS_PER_SECOND: u64 = 1_000;
/// So many ticks are at least a second, and few enough that their nanoseconds are exact.
const MANY_TICKS: u32 = 40;

impl CounterClock {
    /// A clock that starts from the present wall time. The first one of a process takes about a
    /// millisecond to learn how fast the counter runs.
    #[allow(
        clippy::disallowed_methods,
        reason = "it is a clock: what the counter is corrected by"
    )]
    pub fn new() -> Self {
        let counter = quanta::Clock::new();
        let begun = Begun {
            ticks: counter.raw(),
            monotonic: Instant::now(),
            wall: SystemClock::new().now(),
        };
        let ns = u128::from(counter.delta_as_nanos(0, 1 << MANY_TICKS));
        let ms_per_tick = (ns << (64 - MANY_TICKS)) / NS_PER_MS;
        let mut clock = Self {
            counter,
            begun,
            // A tick is far below a millisecond; a counter that stands still would be no counter.
            ms_per_tick: u64::try_from(ms_per_tick).unwrap_or(u64::MAX).max(1),
            correction: AtomicI64::new(0),
            due: AtomicU64::new(0),
        };
        clock.due = AtomicU64::new(begun.ticks.saturating_add(clock.ticks_of_a_second()));
        clock
    }

    fn ticks_of_a_second(&self) -> u64 {
        let ticks = (u128::from(MS_PER_SECOND) << 64) / u128::from(self.ms_per_tick);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Compares the clocks, unless somebody else does.
    #[cold]
    fn correct(&self, ticks: u64, due: u64) {
        let next = ticks.saturating_add(self.ticks_of_a_second());
        let mine = self.due.compare_exchange(due, next, Relaxed, Relaxed);
        if mine.is_ok() {
            let elapsed_ns = self.begun.monotonic.elapsed().as_nanos();
            // 2^64 ns are 584 years.
            let elapsed_ns = u128::from(u64::try_from(elapsed_ns).unwrap_or(u64::MAX));
            let right = (elapsed_ns << 64) / NS_PER_MS / u128::from(self.ms_per_tick);
            let right = u64::try_from(right).unwrap_or(u64::MAX);
            let counted = ticks.saturating_sub(self.begun.ticks);
            let correction = right.wrapping_sub(counted).cast_signed();
            self.correction.store(correction, Relaxed);
        }
    }
}

impl Default for CounterClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for CounterClock {
    #[inline]
    fn now(&self) -> Timestamp {
        let ticks = self.counter.raw();
        let due = self.due.load(Relaxed);
        if ticks >= due {
            self.correct(ticks, due);
        }
        let correction = self.correction.load(Relaxed);
        // A counter that another core has ahead of this one shows no time before the beginning.
        let counted = ticks.saturating_sub(self.begun.ticks);
        let counted = u128::from(counted.saturating_add_signed(correction));
        let elapsed_ms = (counted * u128::from(self.ms_per_tick)) >> 64;
        self.begun.wall.plus_millis(elapsed_ms as u64)
    }
}

impl fmt::Debug for CounterClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CounterClock")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// How far apart two readings may be that are taken one after the other on a busy machine.
    const NEAR_MS: u64 = 50;

    fn differ_by_ms(counter: &CounterClock, system: &SystemClock) -> u64 {
        counter.now().as_millis().abs_diff(system.now().as_millis())
    }

    #[test]
    fn it_shows_what_the_system_clock_shows() {
        let (counter, system) = (CounterClock::new(), SystemClock::new());
        assert!(differ_by_ms(&counter, &system) < NEAR_MS);
    }

    #[test]
    fn a_counter_that_is_an_hour_off_is_corrected_within_a_second() {
        let (mut counter, system) = (CounterClock::new(), SystemClock::new());
        let second = counter.ticks_of_a_second();
        counter.correction = AtomicI64::new(3600 * second.cast_signed());
        assert!(differ_by_ms(&counter, &system) > 3_500_000);
        counter.due = AtomicU64::new(0);
        assert!(differ_by_ms(&counter, &system) < NEAR_MS);
        let (due, correction) = (counter.due.into_inner(), counter.correction.into_inner());
        assert!((second..2 * second).contains(&(due - counter.begun.ticks)));
        assert!(correction.unsigned_abs() < second);
    }

    #[test]
    fn a_second_of_ticks_is_a_second() {
        let clock = CounterClock::new();
        let ns = clock.counter.delta_as_nanos(0, clock.ticks_of_a_second());
        assert!(ns.abs_diff(1_000_000_000) < 10, "{ns}");
    }
}
