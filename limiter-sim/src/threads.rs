//! Jobs that several threads share.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// As many threads as there are cores for this process.
pub(crate) fn all() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `jobs` jobs, each by its number, on at most `threads` threads, and returns what they returned in
/// their order. Each thread begins with a state of its own, which its jobs share.
///
/// # Panics
/// Where a job panics.
pub(crate) fn share<S, R: Send>(
    threads: usize,
    jobs: usize,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(jobs)));
    let thread = || {
        let mut state = begin();
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            let result = work(&mut state, job);
            let mut done = done.lock().expect("nobody panics while it is locked");
            done.push((job, result));
        }
    };
    match threads.min(jobs) {
        0 | 1 => thread(),
        threads => thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(thread);
            }
        }),
    }
    let mut done = done.into_inner().expect("no thread panicked");
    done.sort_unstable_by_key(|(job, _)| *job);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs_however_many_threads_there_are() {
        for threads in [0, 1, 2, 7] {
            let doubled = share(threads, 5, || 2, |two, job| job * *two);
            assert_eq!(doubled, [0, 2, 4, 6, 8]);
        }
        assert_eq!(share(4, 0, || (), |(), job| job), [0_usize; 0]);
    }
}
