//! Callers that each ask again as soon as they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Bench;
use super::limiters::Limiter;

/// Lets `callers` ask for the accounts in `order`, and says how many were admitted.
pub(super) fn ask(
    bench: &Bench,
    limiter: &Arc<impl Limiter>,
    order: &Arc<[Arc<str>]>,
    callers: usize,
) -> u64 {
    let next = Arc::new(AtomicUsize::new(0));
    bench.runtime.block_on(async {
        let caller = |_| {
            let (limiter, order, next) =
                (Arc::clone(limiter), Arc::clone(order), Arc::clone(&next));
            tokio::spawn(async move {
                let mut admitted = 0;
                while let Some(account) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    admitted += u64::from(limiter.admits(account).await);
                }
                admitted
            })
        };
        let callers: Vec<_> = (0..callers).map(caller).collect();
        let mut admitted = 0;
        for caller in callers {
            admitted += caller.await.expect("no caller panics");
        }
        admitted
    })
}
