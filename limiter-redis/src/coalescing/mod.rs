//! Many concurrent decisions in one script call.

mod batch;
mod driver;
mod expiry;
mod queue;

use std::fmt;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Charge, Decision, Error, Limit, Receipt, Refunded,
    Renewed, Snapshot, Timer,
};
use redis::aio::ConnectionLike;

use crate::classify::{batch_error, write_error};
use crate::store::RedisStore;
use crate::{answer, plain};
use batch::{Answer, MAX_BYTES, MAX_DECISIONS};
use driver::Driven;
use expiry::Deadline;
use queue::{Queue, Ticket, Turn};

/// Which budgets may be decided in one script call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mixing {
    /// Any: for a server, or a primary with its replicas, that has all slots. On a cluster such a call
    /// is refused, *unavailable* for all that it had.
    AllKeys,
    /// Those of one [hash tag](crate::HashTags), which are in one slot: for a cluster, where the gain
    /// is then for hot slots only.
    PerHashTag,
}

/// A [`RedisStore`] that combines concurrent acquires into script calls which decide many.
///
/// A call is sent at once and by itself while fewer than 8 are under way (or
/// as many as [`max_in_flight`](Self::max_in_flight) says). Beyond that calls wait, in
/// their order, and whenever one that is under way ends, those that wait are sent in calls of at most
/// [`MAX_DECISIONS`](Self::MAX_DECISIONS) charges and [`MAX_BYTES`](Self::MAX_BYTES) bytes. In such a
/// call each budget is read once, and written at most once; its charges are decided in their order, and
/// each caller gets the answer that it would have had alone.
///
/// Combined are acquires of one charge to a first-arrival window, without refunds and request id, with
/// a key that fits. All else is sent by itself, at once, and may overtake those that wait.
///
/// # Order
/// An acquire that is combined, and begins after another one was asked, reaches the connection after it.
/// (Under [`Mixing::PerHashTag`] that holds within a tag.) Where the server had forgotten the script,
/// calls that are repeated with its text may be overtaken.
///
/// # What fails together
/// A budget whose state is *corrupt*, or that the server refuses to read or write (`OOM`, `NOPERM` for
/// a command, `READONLY`), fails those who asked for it, and nobody else. What ends the whole call ends
/// it for all whom it decided: a lost reply or a time-out (*uncertain*), a refusal of the call itself
/// such as `LOADING`, `NOAUTH` or `MOVED` (*unavailable*).
///
/// # Cancel safety
/// Whoever is dropped while it waits leaves the queue, and is not charged. Later it may have charged, as
/// with `RedisStore`.
#[derive(Clone)]
pub struct CoalescingStore<C> {
    store: RedisStore<C>,
    queue: Arc<Filled>,
    deadline: Option<Deadline>,
}

/// The callers' end of a queue.
#[derive(Debug)]
struct Filled(Arc<Queue>);

impl Drop for Filled {
    fn drop(&mut self) {
        self.0.store_ended();
    }
}

impl<C: ConnectionLike + Clone + Send + Sync> CoalescingStore<C> {
    /// The most charges that one call decides.
    pub const MAX_DECISIONS: usize = MAX_DECISIONS;

    /// The most bytes of a call that decides several, as it is sent by the script's digest.
    pub const MAX_BYTES: usize = MAX_BYTES;

    /// Combines what is asked of `store`, and the driver that sends what waits. Spawn it, or poll it
    /// beside the callers: who waits is not sent without it. It ends when the last clone of the store is
    /// dropped. If it is dropped before, those that wait are *unavailable*, what it had sent is
    /// *uncertain*, and from then on each call is sent by itself.
    pub fn new(
        store: RedisStore<C>,
        mixing: Mixing,
    ) -> (Self, impl Future<Output = ()> + Send + use<C>) {
        let queue = Arc::new(Queue::new(mixing));
        let connection = store.connection.clone();
        let driver = driver::drive(Driven(Arc::clone(&queue)), connection);
        let store = Self {
            store,
            queue: Arc::new(Filled(queue)),
            deadline: None,
        };
        (store, driver)
    }

    /// Lets `calls` be under way before others wait, instead of 8. More wait for less, and share less.
    #[must_use]
    pub fn max_in_flight(self, calls: NonZeroUsize) -> Self {
        self.queue.0.set_max_in_flight(calls);
        self
    }

    /// Gives every call at most `limit` by `timer`, in whole milliseconds, rounded up. A call that still
    /// waits then leaves the queue and is *unavailable*: it was not sent, and is not charged. One that
    /// was sent is *uncertain*.
    ///
    /// A [`DeadlineStore`](limiter_core::DeadlineStore) around this store would call both *uncertain*.
    #[must_use]
    pub fn with_deadline(mut self, timer: impl Timer + 'static, limit: Duration) -> Self {
        self.deadline = Some(Deadline::new(timer, limit));
        self
    }

    async fn acquire_combined(
        &self,
        request: &Acquire,
        charge: &Charge,
    ) -> Result<Decision, Error> {
        let plain = self.store.plain(request, charge)?;
        let limit = plain.limit;
        match self.queue.0.enter(plain) {
            Turn::Now(plain, _under_way) => {
                let sent = self.store.send_plain(plain);
                let reply = self.bounded(async { sent.await.map_err(write_error) });
                answer::decision(charge, limit, &reply.await?)
            }
            Turn::Later(ticket) => decision(charge, limit, self.answer(ticket).await?),
        }
    }

    /// What the holder of `ticket` is told.
    async fn answer(&self, mut ticket: Ticket) -> Result<Answer, Error> {
        let mut expiry = self.deadline.as_ref().map(Deadline::begin);
        poll_fn(|context| {
            if let Poll::Ready(answer) = ticket.poll_answer(context) {
                let lost = || Error::uncertain("the driver was dropped before the reply came");
                return Poll::Ready(answer.ok_or_else(lost));
            }
            match &mut expiry {
                Some(expiry) => expiry.poll(context).map(|()| match ticket.withdraw() {
                    true => Err(expiry.while_waiting()),
                    false => Err(expiry.while_under_way()),
                }),
                None => Poll::Pending,
            }
        })
        .await
    }

    async fn bounded<R>(&self, call: impl Future<Output = Result<R, Error>>) -> Result<R, Error> {
        match &self.deadline {
            Some(deadline) => deadline.bound(call).await,
            None => call.await,
        }
    }
}

fn decision(charge: &Charge, limit: Limit, answer: Answer) -> Result<Decision, Error> {
    match answer {
        Answer::Said(reply) => answer::decided(charge, limit, reply),
        Answer::Alone(reply) => answer::decision(charge, limit, &reply.map_err(write_error)?),
        Answer::Refused(why) => Err(Error::unavailable(why)),
        Answer::Failed(error) => Err(batch_error(error)),
        Answer::Unreadable(what) => Err(Error::uncertain(what)),
        Answer::NotSent => Err(Error::unavailable("not sent: the driver was dropped")),
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<C: ConnectionLike + Clone + Send + Sync> BudgetStore for CoalescingStore<C> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        match plain::charge(request) {
            Some(charge) => self.acquire_combined(request, charge).await,
            None => self.bounded(self.store.acquire_any(request)).await,
        }
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.bounded(self.store.peek(budget)).await
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.bounded(self.store.refund(receipt)).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.bounded(self.store.renew(receipt)).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.bounded(self.store.reset(budget)).await
    }
}

impl<C> fmt::Display for CoalescingStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CoalescingStore({})", self.store)
    }
}

impl<C> fmt::Debug for CoalescingStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CoalescingStore")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
