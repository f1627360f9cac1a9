//! How long a call may take.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use limiter_core::{Error, Sleep, Timer};

/// A limit on each call, and who measures it.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    timer: Arc<dyn Timer>,
    limit: Duration,
}

impl Deadline {
    pub(super) fn new(timer: impl Timer + 'static, limit: Duration) -> Self {
        let timer = Arc::new(timer);
        Self { timer, limit }
    }

    pub(super) fn begin(&self) -> Expiry {
        let limit_ms = u64::try_from(self.limit.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        let deadline = self.timer.now().plus_millis(limit_ms);
        Expiry {
            sleep: self.timer.sleep_until(deadline),
            limit: self.limit,
        }
    }

    /// Polls `call` first, so that an answer that is there is never thrown away.
    pub(super) async fn bound<R>(
        &self,
        call: impl Future<Output = Result<R, Error>>,
    ) -> Result<R, Error> {
        let (mut call, mut expiry) = (pin!(call), self.begin());
        poll_fn(|context| {
            if let Poll::Ready(answer) = call.as_mut().poll(context) {
                return Poll::Ready(answer);
            }
            expiry.poll(context).map(|()| Err(expiry.while_under_way()))
        })
        .await
    }
}

/// The limit on one call.
pub(super) struct Expiry {
    sleep: Sleep,
    limit: Duration,
}

impl Expiry {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().poll(context)
    }

    pub(super) fn while_waiting(&self) -> Error {
        let limit = self.limit;
        Error::unavailable(format!("not sent within {limit:?}: others were under way"))
    }

    pub(super) fn while_under_way(&self) -> Error {
        let limit = self.limit;
        Error::uncertain(format!(
            "no answer within {limit:?}; the call may have been decided"
        ))
    }
}
