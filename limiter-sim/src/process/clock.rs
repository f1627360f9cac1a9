//! The process's clock, read through the seam.

use std::future::poll_fn;
use std::task::Poll;

use limiter_core::{Clock, Sleep, Timer, Timestamp};

use super::input::Ticket;
use super::seam::Seam;

/// The clock of a simulated process. It stands still unless the scheduler moves time.
#[derive(Clone, Debug)]
pub struct SimClock(Seam);

impl SimClock {
    pub(crate) fn new(seam: Seam) -> Self {
        Self(seam)
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        self.0.read_clock()
    }
}

impl Timer for SimClock {
    fn sleep_until(&self, deadline: Timestamp) -> Sleep {
        let armed = Armed {
            seam: self.0.clone(),
            timer: self.0.arm(deadline.as_millis()),
        };
        Box::pin(async move {
            poll_fn(
                |context| match armed.seam.has_fired(armed.timer, context.waker()) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                },
            )
            .await;
        })
    }
}

struct Armed {
    seam: Seam,
    timer: Ticket,
}

impl Drop for Armed {
    fn drop(&mut self) {
        self.seam.disarm(self.timer);
    }
}
