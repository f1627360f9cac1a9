use limiter_core::Cost;

use crate::{admitted, advance, manual_clock, policy, store_of};

#[test]
fn expired_budgets_are_removed_as_new_ones_arrive() {
    let clock = manual_clock();
    let store = store_of(1_000_000, &clock);
    let policy = policy("removal/passing", 1, 1000);
    for who in 0..20_000_u64 {
        let _ = store.acquire_now(&policy, who, Cost::ONE).unwrap();
        if who % 10 == 9 {
            advance(&clock, 10);
        }
    }
    // At one new budget per millisecond, a thousand are live; a queue's removal lags by a few.
    assert!(store.len() < 1_020, "{} are stored", store.len());
}

#[test]
fn budgets_that_are_used_again_are_kept_and_leave_no_records_behind() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let policy = policy("removal/again", 1, 10);
    for _ in 0..1_000 {
        for who in 0..50_u64 {
            let outcome = store.acquire_now(&policy, who, Cost::ONE).unwrap();
            assert_eq!(outcome, admitted(1, 0, 11));
        }
        advance(&clock, 11);
    }
    assert!(store.len() <= 50);
    let left = store.len();
    assert_eq!(store.remove_expired(usize::MAX), left);
    assert!(store.is_empty());
}

#[test]
fn remove_expired_removes_at_most_what_it_was_told_and_nothing_live() {
    let clock = manual_clock();
    let store = store_of(1000, &clock);
    let second = policy("removal/second", 1, 1000);
    let minute = policy("removal/minute", 1, 60_000);
    for who in 0..300_u64 {
        let _ = store.acquire_now(&second, who, Cost::ONE).unwrap();
        let _ = store.acquire_now(&minute, who, Cost::ONE).unwrap();
    }
    assert_eq!(store.remove_expired(usize::MAX), 0);
    advance(&clock, 1001);
    assert_eq!(store.remove_expired(0), 0);
    assert_eq!(store.remove_expired(123), 123);
    assert_eq!(store.len(), 477);
    assert_eq!(store.remove_expired(usize::MAX), 177);
    for who in 0..300_u64 {
        assert_eq!(store.peek_now(&minute, who).unwrap().total, 1);
        assert_eq!(store.peek_now(&second, who).unwrap().total, 0);
    }
}

#[test]
fn windows_of_every_length_are_removed_when_they_are_over() {
    let clock = manual_clock();
    let store = store_of(1000, &clock);
    let year = policy("removal/year", 1, 366 * 86_400_000);
    let day_ms = 86_400_000;
    for who in 0..366_u64 {
        let _ = store.acquire_now(&year, who, Cost::ONE).unwrap();
        advance(&clock, day_ms);
    }
    advance(&clock, 1);
    for left in (0..366_usize).rev() {
        assert_eq!(store.remove_expired(usize::MAX), 1);
        assert_eq!(store.len(), left);
        advance(&clock, day_ms);
    }
}
