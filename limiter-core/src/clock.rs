//! The time seam: who says what time it is, and who can wait.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// An instant of some store's time: whole milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The instant `ms` milliseconds after the Unix epoch.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The instant `ms` milliseconds later; the last representable one where that is beyond it.
    #[must_use]
    pub const fn plus_millis(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to `self`; 0 where `earlier` is later.
    pub const fn millis_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Says what time it is.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current instant.
    fn now(&self) -> Timestamp;
}

/// A future that completes at an instant.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A clock that can also wait.
pub trait Timer: Clock {
    /// Completes at the first poll at or after `deadline`, and wakes its task then. Dropping it
    /// disarms it.
    fn sleep_until(&self, deadline: Timestamp) -> Sleep;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

impl<T: Timer + ?Sized> Timer for Arc<T> {
    fn sleep_until(&self, deadline: Timestamp) -> Sleep {
        (**self).sleep_until(deadline)
    }
}

/// The operating system's clock, read once as wall time and from then on as elapsed monotonic time.
///
/// So it never steps back, and a correction of the wall clock while the process runs does not reach
/// it. Two processes can differ by whatever their wall clocks differed by at the start.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
    origin_ms: u64,
}

impl SystemClock {
    /// A clock that starts from the present wall time.
    #[allow(clippy::disallowed_methods)] // This is the one place where core reads the clock.
    pub fn new() -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            origin: Instant::now(),
            origin_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX / 2),
        }
    }

    /// The instant of the monotonic clock at which this clock shows `timestamp`.
    #[cfg(feature = "tokio")]
    pub(crate) fn instant_at(&self, timestamp: Timestamp) -> Option<Instant> {
        let ms = timestamp.as_millis().saturating_sub(self.origin_ms);
        self.origin.checked_add(Duration::from_millis(ms))
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let elapsed = self.origin.elapsed();
        let ms = elapsed.as_secs() * 1000 + u64::from(elapsed.subsec_millis());
        Timestamp(self.origin_ms + ms)
    }
}

/// A clock that moves only when it is told to, for tests. Clones show the same time.
///
/// It may also be set back, to see what a store makes of a clock that steps.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Mutex<Manual>>);

#[derive(Debug)]
struct Manual {
    now: Timestamp,
    sleepers: Vec<Waker>,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(Manual {
            now,
            sleepers: Vec::new(),
        })))
    }

    /// Shows `now` from here on, and wakes whoever sleeps.
    pub fn set(&self, now: Timestamp) {
        let sleepers = {
            let mut manual = self.lock();
            manual.now = now;
            std::mem::take(&mut manual.sleepers)
        };
        sleepers.into_iter().for_each(Waker::wake);
    }

    /// Moves on by `step`, in whole milliseconds.
    pub fn advance(&self, step: Duration) {
        let ms = u64::try_from(step.as_millis()).unwrap_or(u64::MAX);
        self.set(self.now().plus_millis(ms));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Manual> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }
}

impl Timer for ManualClock {
    fn sleep_until(&self, deadline: Timestamp) -> Sleep {
        Box::pin(ManualSleep {
            clock: self.clone(),
            deadline,
        })
    }
}

struct ManualSleep {
    clock: ManualClock,
    deadline: Timestamp,
}

impl Future for ManualSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut manual = self.clock.lock();
        if manual.now >= self.deadline {
            return Poll::Ready(());
        }
        manual.sleepers.push(context.waker().clone());
        Poll::Pending
    }
}
