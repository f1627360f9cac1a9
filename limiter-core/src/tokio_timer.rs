//! A system clock that can wait, on tokio's timer wheel.

use crate::clock::{Clock, Sleep, SystemClock, Timer, Timestamp};

/// [`SystemClock`], with waiting done by tokio. Needs a tokio runtime with time enabled wherever a
/// sleep is polled.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer(SystemClock);

impl Clock for TokioTimer {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl Timer for TokioTimer {
    fn sleep_until(&self, deadline: Timestamp) -> Sleep {
        match self.0.instant_at(deadline) {
            Some(instant) => Box::pin(tokio::time::sleep_until(instant.into())),
            // Further off than the monotonic clock can count: it never comes.
            None => Box::pin(std::future::pending()),
        }
    }
}
