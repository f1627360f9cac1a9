//! Waiting for what another process does.

use std::thread;
use std::time::Duration;

use limiter_core::{Clock, SystemClock, Timer, TokioTimer};

/// How often to look.
const STEP: Duration = Duration::from_millis(2);

/// Waits until `done`, and looks every few milliseconds.
///
/// # Panics
/// Where that takes longer than `within`; the message names `what`.
pub async fn eventually(what: &str, within: Duration, mut done: impl AsyncFnMut() -> bool) {
    let clock = SystemClock::new();
    let start = clock.now();
    while !done().await {
        let waited = Duration::from_millis(clock.now().millis_since(start));
        assert!(waited < within, "{what}: not within {within:?}");
        pause_for(STEP).await;
    }
}

/// Waits for at least `duration` of real time, for tests that are about its passing.
pub async fn pause_for(duration: Duration) {
    let timer = TokioTimer::default();
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    // The clock shows whole milliseconds, so up to one of them has passed already.
    let deadline = timer.now().plus_millis(ms).plus_millis(1);
    timer.sleep_until(deadline).await;
}

/// [`eventually`], for where there is no runtime; answers whether it was done in time.
pub(crate) fn until(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let clock = SystemClock::new();
    let start = clock.now();
    loop {
        if done() {
            return true;
        }
        if Duration::from_millis(clock.now().millis_since(start)) >= within {
            return false;
        }
        thread::sleep(STEP);
    }
}
