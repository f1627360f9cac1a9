//! Whose time passes while a store is checked.

use std::fmt;
use std::time::Duration;

use crate::{Clock, ManualClock, Sleep, Timer};

/// Lets a store's time pass.
pub trait Passage: fmt::Debug + Send + Sync {
    /// Completes when `duration` has passed for the store.
    fn pass(&self, duration: Duration) -> Sleep;

    /// Sets the store's clock back, if it can be.
    fn set_back(&self, duration: Duration) -> bool;

    /// Whether time also passes by itself: then instants are not exact.
    fn is_real(&self) -> bool;
}

/// The time of a [`ManualClock`] that the store reads.
#[derive(Clone, Debug)]
pub struct Manual(pub ManualClock);

impl Passage for Manual {
    fn pass(&self, duration: Duration) -> Sleep {
        self.0.advance(duration);
        Box::pin(std::future::ready(()))
    }

    fn set_back(&self, duration: Duration) -> bool {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let back = self.0.now().as_millis().saturating_sub(ms);
        self.0.set(crate::Timestamp::from_millis(back));
        true
    }

    fn is_real(&self) -> bool {
        false
    }
}

/// Real time: the store has its own clock, and `T` waits in this process.
#[derive(Clone, Debug)]
pub struct Real<T>(pub T);

impl<T: Timer> Passage for Real<T> {
    /// Two milliseconds more: both clocks show whole ones.
    fn pass(&self, duration: Duration) -> Sleep {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let deadline = self.0.now().plus_millis(ms).plus_millis(2);
        self.0.sleep_until(deadline)
    }

    fn set_back(&self, _duration: Duration) -> bool {
        false
    }

    fn is_real(&self) -> bool {
        true
    }
}
