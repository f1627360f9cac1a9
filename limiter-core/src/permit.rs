//! Permits that are given back by being dropped.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::{Admission, BudgetStore, Receipt, RuleKind};

/// Makes guards of admissions to in-flight budgets. Clones make guards for the same [`Releaser`].
///
/// Dropping a guard cannot wait for a store, so it hands its receipts to the releaser: a future that
/// the application runs, on whatever runtime it has. If the process dies, or nobody runs the
/// releaser, each lease ends by itself.
///
/// ```
/// use limiter_core::{Admission, BudgetStore, Permits};
///
/// fn start<S: BudgetStore + 'static>(store: S, spawn: impl FnOnce(futures_util::future::BoxFuture<'static, ()>)) -> Permits {
///     let (permits, releaser) = Permits::new();
///     spawn(Box::pin(releaser.run(store)));
///     permits
/// }
///
/// async fn work(permits: &Permits, mut admission: Admission) {
///     let _permit = permits.hold(&mut admission);
///     // Whether this returns, panics or is dropped: the permit is given back.
/// }
/// ```
#[derive(Debug)]
pub struct Permits(Arc<Queue>);

/// A guard: the leases of one admission, given back when it is dropped.
#[derive(Debug)]
#[must_use = "dropping a permit gives it back"]
pub struct Permit {
    receipts: Vec<Receipt>,
    permits: Permits,
}

/// Gives back what guards left behind. The application runs it.
#[derive(Debug)]
#[must_use = "leases are only given back while the releaser runs"]
pub struct Releaser(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    receipts: VecDeque<Receipt>,
    /// [`Permits`] that can still send something, those inside guards included.
    senders: usize,
    releaser: Option<Waker>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and wakes the releaser after the lock is given up.
    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        let releaser = {
            let mut waiting = self.lock();
            change(&mut waiting);
            waiting.releaser.take()
        };
        if let Some(releaser) = releaser {
            releaser.wake();
        }
    }
}

impl Permits {
    /// A maker of guards, and the future that gives back what they leave.
    #[allow(clippy::new_ret_no_self, reason = "the two halves belong together")]
    pub fn new() -> (Self, Releaser) {
        let queue = Arc::new(Queue::default());
        queue.lock().senders = 1;
        (Self(Arc::clone(&queue)), Releaser(queue))
    }

    /// Takes the receipts of in-flight budgets out of `admission`, and guards them. Receipts of
    /// other rules stay: what they charged is spent unless the caller refunds it.
    pub fn hold(&self, admission: &mut Admission) -> Permit {
        Permit {
            receipts: admission.take_receipts(RuleKind::InFlight),
            permits: self.clone(),
        }
    }
}

impl Clone for Permits {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for Permits {
    fn drop(&mut self) {
        self.0.change(|waiting| waiting.senders -= 1);
    }
}

impl Permit {
    /// The receipts, for [`BudgetStore::renew`]; none where no lease was taken.
    pub fn receipts(&self) -> &[Receipt] {
        &self.receipts
    }

    /// Gives up the guard: the leases last until they are released by receipt, or end.
    pub fn into_receipts(mut self) -> Vec<Receipt> {
        std::mem::take(&mut self.receipts)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.receipts.is_empty() {
            let receipts = std::mem::take(&mut self.receipts);
            self.permits
                .0
                .change(|waiting| waiting.receipts.extend(receipts));
        }
    }
}

impl Releaser {
    /// The next receipt to give back; `None` when no guard and no [`Permits`] is left.
    ///
    /// # Cancel safety
    /// A dropped future has taken nothing.
    pub async fn next(&mut self) -> Option<Receipt> {
        poll_fn(|context| {
            let mut waiting = self.0.lock();
            match waiting.receipts.pop_front() {
                Some(receipt) => Poll::Ready(Some(receipt)),
                None if waiting.senders == 0 => Poll::Ready(None),
                None => {
                    waiting.releaser = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Gives back to `store` whatever comes, one after the other, until no guard and no [`Permits`]
    /// is left. What the store fails to take back ends with its lease.
    pub async fn run<S: BudgetStore>(mut self, store: S) {
        while let Some(receipt) = self.next().await {
            let _ = store.refund(receipt).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;
    use crate::rule::{Step, decide};
    use crate::{Acquire, Cost, Nonce, Policy, Timestamp};

    fn admission() -> Admission {
        let policy = Policy::named("jobs")
            .scope("service")
            .limit(5)
            .in_flight(Duration::from_secs(30))
            .build()
            .unwrap();
        let request =
            Acquire::of(&policy, "alice", Cost::ONE).with_nonce(Nonce::from_bytes([1; 16]));
        match decide(&request, [None], Timestamp::from_millis(0)).unwrap() {
            Step::Admit { admission, .. } => admission,
            Step::Deny(denial) => panic!("{denial:?}"),
        }
    }

    #[test]
    fn a_dropped_permit_is_given_back_and_a_kept_one_is_not() {
        let (permits, mut releaser) = Permits::new();
        let kept = permits.hold(&mut admission()).into_receipts();
        assert_eq!(kept.len(), 1);
        assert!(releaser.next().now_or_never().is_none());
        drop(permits.hold(&mut admission()));
        assert!(matches!(releaser.next().now_or_never(), Some(Some(_))));
        assert!(releaser.next().now_or_never().is_none());
    }

    #[test]
    fn the_releaser_ends_when_nothing_can_come_any_more() {
        let (permits, mut releaser) = Permits::new();
        let permit = permits.hold(&mut admission());
        drop(permits);
        assert!(releaser.next().now_or_never().is_none());
        drop(permit);
        assert!(matches!(releaser.next().now_or_never(), Some(Some(_))));
        assert!(matches!(releaser.next().now_or_never(), Some(None)));
    }
}
