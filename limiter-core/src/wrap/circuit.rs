//! Not asking a store that does not answer.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::{
    Acquire, Budget, BudgetStore, Capabilities, Clock, Decision, Error, ErrorKind, Receipt,
    Refunded, Renewed, Snapshot, Timestamp,
};

/// Stops asking `S` after a number of failures in a row, and from then on lets one call through per
/// interval, by `C`'s time, to see whether it is back.
///
/// A failure is a call that was answered *unavailable* or *uncertain*, time-outs included. While the
/// circuit is open, all other calls are [*unavailable*](ErrorKind::Unavailable) at once: they were
/// not sent, and [`Error::retry_in`] says when the next probe is due. Any other answer closes it; an
/// *invalid* one says nothing about the store. So a dead store costs a caller microseconds, not its
/// time-out: put a [`DeadlineStore`](crate::DeadlineStore) inside, and a
/// [`BoundedStore`](crate::BoundedStore) outside, whose refusals are no failures of the store.
///
/// A probe that is dropped decides nothing; the next one is due an interval after it began. The
/// circuit is one for this value and everything that points to it; each process has its own.
#[derive(Debug)]
pub struct CircuitStore<S, C> {
    inner: S,
    clock: C,
    failures_to_open: u32,
    interval_ms: u64,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failures: u32 },
    Open { next_probe: Timestamp },
}

impl<S, C: Clock> CircuitStore<S, C> {
    /// Opens after `failures` failures in a row, and then probes `inner` once per `interval`, in
    /// whole milliseconds, rounded up.
    ///
    /// # Errors
    /// *Invalid* for 0 failures, which would never ask the store, and for an interval of 0.
    pub fn new(inner: S, clock: C, failures: u32, interval: Duration) -> Result<Self, Error> {
        let interval_ms =
            u64::try_from(interval.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        if failures == 0 || interval_ms == 0 {
            return Err(Error::invalid(format!(
                "a circuit of {failures} failures and an interval of {interval:?}: allowed is at \
                 least 1 and 1 ms"
            )));
        }
        Ok(Self {
            inner,
            clock,
            failures_to_open: failures,
            interval_ms,
            state: Mutex::new(State::Closed { failures: 0 }),
        })
    }

    /// How long until the next probe, 0 where it is due; `None` while the circuit is closed.
    pub fn next_probe_in(&self) -> Option<Duration> {
        match *self.state() {
            State::Closed { .. } => None,
            State::Open { next_probe } => Some(self.until(next_probe)),
        }
    }

    fn until(&self, next_probe: Timestamp) -> Duration {
        Duration::from_millis(next_probe.millis_since(self.clock.now()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call through, or says when to come again.
    fn enter(&self) -> Result<(), Error> {
        let now = self.clock.now();
        let next = now.plus_millis(self.interval_ms);
        let State::Open { next_probe } = &mut *self.state() else {
            return Ok(());
        };
        // A clock that was set back does not put the probe off for longer than an interval.
        *next_probe = next.min(*next_probe);
        if *next_probe <= now {
            *next_probe = next;
            return Ok(());
        }
        let wait = Duration::from_millis(next_probe.millis_since(now));
        Err(Error::unavailable(format!(
            "not sent: the store failed {} times in a row, and is asked again in {wait:?}",
            self.failures_to_open
        ))
        .with_retry_in(wait))
    }

    fn leave(&self, failed: bool) {
        let now = self.clock.now();
        let mut state = self.state();
        *state = match *state {
            _ if !failed => State::Closed { failures: 0 },
            State::Closed { failures } if failures + 1 < self.failures_to_open => State::Closed {
                failures: failures + 1,
            },
            State::Closed { .. } => State::Open {
                next_probe: now.plus_millis(self.interval_ms),
            },
            open @ State::Open { .. } => open,
        };
    }

    async fn guarded<R>(&self, call: impl Future<Output = Result<R, Error>>) -> Result<R, Error> {
        self.enter()?;
        let answer = call.await;
        match answer.as_ref().map_err(Error::kind) {
            Err(ErrorKind::Unavailable | ErrorKind::Uncertain) => self.leave(true),
            Err(ErrorKind::Invalid) => {}
            Ok(_) | Err(ErrorKind::Corrupt) => self.leave(false),
        }
        answer
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore, C: Clock> BudgetStore for CircuitStore<S, C> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        self.guarded(self.inner.acquire(request)).await
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.guarded(self.inner.peek(budget)).await
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.guarded(self.inner.refund(receipt)).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.guarded(self.inner.renew(receipt)).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.guarded(self.inner.reset(budget)).await
    }
}

impl<S: fmt::Display, C> fmt::Display for CircuitStore<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CircuitStore({})", self.inner)
    }
}
