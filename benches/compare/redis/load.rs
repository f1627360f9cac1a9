//! Callers that each ask again as soon as they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Builder, Runtime};

/// A limiter that is asked for one unit of an account.
pub(crate) trait Limiter: Send + Sync + 'static {
    /// An error of the limiter ends the benchmark.
    fn admits(&self, account: &str) -> impl Future<Output = bool> + Send;
}

/// What callers run on: as many threads as there are cores, less one for the server.
pub(crate) fn runtime() -> Runtime {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_multi_thread()
        .worker_threads(cores.saturating_sub(1).max(1))
        .enable_all()
        .build();
    runtime.expect("a runtime")
}

/// Lets `callers` ask for the accounts in `order`, and says how many were admitted.
pub(crate) fn ask(
    runtime: &Runtime,
    limiter: &Arc<impl Limiter>,
    order: &Arc<[Arc<str>]>,
    callers: usize,
) -> u64 {
    let next = Arc::new(AtomicUsize::new(0));
    runtime.block_on(async {
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
