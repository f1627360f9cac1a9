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
    /// What is to be added to the counter's time, in nanoseconds.
    correction_ns: AtomicI64,
    /// The counter's time at which the next correction is due, in nanoseconds.
    due_ns: AtomicU64,
}

/// One instant, on all clocks.
#[derive(Clone, Copy, Debug)]
struct Begun {
    ticks: u64,
    monotonic: Instant,
    wall: Timestamp,
}

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_SECOND: u64 = 1_000_000_000;

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
        Self {
            counter,
            begun,
            correction_ns: AtomicI64::new(0),
            due_ns: AtomicU64::new(NS_PER_SECOND),
        }
    }

    /// Compares the clocks, unless somebody else does.
    #[cold]
    fn correct(&self, counted_ns: u64, due_ns: u64) {
        let next_ns = counted_ns.saturating_add(NS_PER_SECOND);
        let mine = self
            .due_ns
            .compare_exchange(due_ns, next_ns, Relaxed, Relaxed);
        if mine.is_ok() {
            let elapsed_ns = u64::try_from(self.begun.monotonic.elapsed().as_nanos());
            let elapsed_ns = elapsed_ns.unwrap_or(u64::MAX);
            let correction_ns = elapsed_ns.wrapping_sub(counted_ns).cast_signed();
            self.correction_ns.store(correction_ns, Relaxed);
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
        let counted_ns = self.counter.delta_as_nanos(self.begun.ticks, ticks);
        let due_ns = self.due_ns.load(Relaxed);
        if counted_ns >= due_ns {
            self.correct(counted_ns, due_ns);
        }
        let correction_ns = self.correction_ns.load(Relaxed);
        let elapsed_ns = counted_ns.saturating_add_signed(correction_ns);
        self.begun.wall.plus_millis(elapsed_ns / NS_PER_MS)
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
        let hour_ns = 3600 * NS_PER_SECOND;
        counter.correction_ns = AtomicI64::new(hour_ns.cast_signed());
        assert!(differ_by_ms(&counter, &system) > 3_500_000);
        counter.due_ns = AtomicU64::new(0);
        assert!(differ_by_ms(&counter, &system) < NEAR_MS);
        let (due_ns, correction_ns) = (counter.due_ns.into_inner(), counter.correction_ns);
        assert!(
            (NS_PER_SECOND..2 * NS_PER_SECOND).contains(&due_ns),
            "{due_ns}"
        );
        assert!(correction_ns.into_inner().unsigned_abs() < NEAR_MS * NS_PER_MS);
    }
}
