//! Store time: the clock's, but never earlier than what was seen before.

use std::fmt;
use std::time::Duration;

use limiter_core::{Clock, Error, Timestamp, Wait};

use crate::LATEST;
use crate::sync::{AtomicU64, Padded, Relaxed};

/// The latest instant that any call has seen, and the clock that tells the next one.
///
/// Without it, a clock that steps back would give credit: a window that was over, and so perhaps
/// already removed, would be in the future again. So store time stands still until the clock has
/// caught up. Every call reads the highest instant; it is written at most once per millisecond.
///
/// Calls read the time while they hold their shard's lock. So within one shard it never goes back,
/// an admission is dated by the instant of its charge however long the caller waited for the lock,
/// and expiry queues stay in order. `Relaxed` is enough: the shard's lock orders the accesses of
/// those who must agree.
pub(crate) struct StoreTime<C> {
    clock: C,
    highest_ms: Padded<AtomicU64>,
}

/// One reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// The instant in store time.
    pub(crate) now: Timestamp,
    /// How far the clock is behind store time, in milliseconds; 0 unless it stepped back.
    pub(crate) behind_ms: u64,
}

impl<C: Clock> StoreTime<C> {
    pub(crate) fn new(clock: C) -> Self {
        Self {
            clock,
            highest_ms: Padded(AtomicU64::new(0)),
        }
    }

    /// The present moment.
    ///
    /// *Unavailable* where the clock shows an instant whose deadlines could not be stored; that
    /// reading does not become store time.
    #[inline]
    pub(crate) fn moment(&self) -> Result<Moment, Error> {
        let shown = self.clock.now();
        if shown > LATEST {
            return Err(beyond(shown));
        }
        let shown_ms = shown.as_millis();
        let mut highest_ms = self.highest_ms.0.load(Relaxed);
        if shown_ms > highest_ms {
            highest_ms = self.highest_ms.0.fetch_max(shown_ms, Relaxed).max(shown_ms);
        }
        Ok(Moment {
            now: Timestamp::from_millis(highest_ms),
            behind_ms: highest_ms - shown_ms,
        })
    }
}

#[cold]
fn beyond(shown: Timestamp) -> Error {
    Error::unavailable(format!(
        "the clock shows {} ms since the Unix epoch: the store can date until {} ms",
        shown.as_millis(),
        LATEST.as_millis()
    ))
}

impl Moment {
    /// A time from now on in store time, as the clock will show it.
    #[inline]
    pub(crate) fn by_the_clock(self, duration: Duration) -> Duration {
        match self.behind_ms {
            0 => duration,
            behind_ms => duration + Duration::from_millis(behind_ms),
        }
    }

    pub(crate) fn wait_by_the_clock(self, wait: Wait) -> Wait {
        match wait {
            Wait::For(duration) => Wait::For(self.by_the_clock(duration)),
            Wait::Never => Wait::Never,
        }
    }
}

impl<C: fmt::Debug> fmt::Debug for StoreTime<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.clock.fmt(f)
    }
}
