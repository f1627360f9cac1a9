//! Windows that really end.

use std::time::Duration;

use limiter_core::{Budget, BudgetStore};
use limiter_tests::{on_every_server, pause_for};

use crate::support::{counter, denied, one_of, policy, store, total, wait};

#[test]
fn after_the_wait_of_a_denial_the_next_admission_is_the_first_of_a_new_window() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        let length = Duration::from_millis(400);
        let budget = Budget::of(&policy(5, length), "alice");
        for expected in 1..=5 {
            assert_eq!(
                total(store.acquire(&one_of(&budget)).await.unwrap()),
                expected
            );
        }
        let denial = denied(store.acquire(&one_of(&budget)).await.unwrap());
        pause_for(wait(&denial)).await;
        assert_eq!(counter(&server, &budget), 0, "the window is over");
        assert_eq!(total(store.acquire(&one_of(&budget)).await.unwrap()), 1);
        assert_eq!(counter(&server, &budget), 1);
        let snapshot = store.peek(&budget).await.unwrap();
        assert!(snapshot.resets_in.unwrap() <= length + Duration::from_millis(1));
    });
}

#[test]
fn the_shortest_window_is_over_after_two_milliseconds() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        let budget = Budget::of(&policy(1, Duration::from_millis(1)), "alice");
        for _ in 0..50 {
            assert_eq!(total(store.acquire(&one_of(&budget)).await.unwrap()), 1);
            pause_for(Duration::from_millis(2)).await;
        }
    });
}
