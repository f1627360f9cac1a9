use std::sync::Barrier;
use std::thread;

use limiter_core::Cost;
use limiter_memory::Outcome;

use crate::{manual_clock, policy, store_of};

const THREADS: usize = 8;

fn on_all_threads<T: Send>(work: impl Fn(usize) -> Vec<T> + Sync) -> Vec<T> {
    let barrier = &Barrier::new(THREADS);
    let work = &work;
    thread::scope(|scope| {
        let run = |thread| {
            scope.spawn(move || {
                barrier.wait();
                work(thread)
            })
        };
        let handles: Vec<_> = (0..THREADS).map(run).collect();
        let results = handles.into_iter().map(|handle| handle.join().unwrap());
        results.flatten().collect()
    })
}

#[test]
fn of_many_threads_on_one_budget_exactly_the_limit_is_admitted_and_each_total_told_once() {
    let store = store_of(10, &manual_clock());
    let policy = policy("threads/hot", 1000, 1000);
    let mut totals = on_all_threads(|_| {
        let ask = |_| store.acquire_now(&policy, "hot", Cost::ONE).unwrap();
        let total = |outcome| match outcome {
            Outcome::Admitted { total, .. } => Some(total),
            Outcome::Denied { .. } => None,
        };
        (0..1000).map(ask).filter_map(total).collect()
    });
    totals.sort_unstable();
    assert_eq!(totals, (1..=1000).collect::<Vec<_>>());
}

#[test]
fn of_many_threads_with_new_budgets_exactly_the_capacity_finds_a_place() {
    let store = store_of(500, &manual_clock());
    let policy = policy("threads/capacity", 1, 1000);
    let answers = on_all_threads(|thread| {
        let who = |n| (thread * 1000 + n) as u64;
        let ask = |n| store.acquire_now(&policy, who(n), Cost::ONE).is_ok();
        (0..200).map(ask).collect()
    });
    assert_eq!(answers.into_iter().filter(|found| *found).count(), 500);
    assert_eq!(store.len(), 500);
}

#[test]
fn removal_beside_acquires_neither_loses_a_live_budget_nor_a_place() {
    let clock = manual_clock();
    let store = store_of(10_000, &clock);
    let policy = policy("threads/removal", 1, 5);
    on_all_threads(|thread| {
        for n in 0..2_000 {
            let _ = store
                .acquire_now(&policy, (n % 97) as u64, Cost::ONE)
                .unwrap();
            if thread == 0 {
                crate::advance(&clock, 1);
            }
            if thread == 1 {
                store.remove_expired(10);
            }
        }
        Vec::<()>::new()
    });
    assert!(store.len() <= 97);
    crate::advance(&clock, 6);
    store.remove_expired(usize::MAX);
    assert_eq!(store.len(), 0);
}
