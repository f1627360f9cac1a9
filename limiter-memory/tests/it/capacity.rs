use limiter_core::{Cost, ErrorKind};

use crate::{admitted, advance, denied, manual_clock, policy, store_of};

/// Longer than what is kept inline, so that it lives in the other table.
const LONG: &str = "an identity of more than fifteen bytes";

#[test]
fn a_full_store_is_unavailable_for_a_new_budget_and_goes_on_with_those_it_has() {
    let clock = manual_clock();
    let store = store_of(2, &clock);
    let policy = policy("capacity/full", 2, 1000);
    let ask = |who: &str| store.acquire_now(&policy, who, Cost::ONE);
    assert_eq!(ask("alice").unwrap(), admitted(1, 1, 1001));
    assert_eq!(ask(LONG).unwrap(), admitted(1, 1, 1001));
    let error = ask("carol").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(!error.may_have_spent());
    assert_eq!(ask("alice").unwrap(), admitted(2, 0, 1001));
    assert_eq!(ask(LONG).unwrap(), admitted(2, 0, 1001));
    assert_eq!(ask("alice").unwrap(), denied(0, 1001));
    assert_eq!(store.peek_now(&policy, "carol").unwrap().total, 0);
    assert_eq!(store.len(), 2);
}

#[test]
fn a_full_store_finds_the_one_budget_that_is_over_wherever_it_is() {
    let clock = manual_clock();
    let day = policy("capacity/day", 1, 86_400_000);
    let second = policy("capacity/second", 1, 1000);
    for over in ["0", "1", "2", LONG] {
        let store = store_of(101, &clock);
        for who in 0..50_u64 {
            let _ = store.acquire_now(&day, who, Cost::ONE).unwrap();
        }
        let _ = store.acquire_now(&second, over, Cost::ONE).unwrap();
        for who in 50..100_u64 {
            let _ = store.acquire_now(&day, who, Cost::ONE).unwrap();
        }
        advance(&clock, 1000);
        assert!(store.acquire_now(&day, "new", Cost::ONE).is_err());
        advance(&clock, 1);
        assert!(store.acquire_now(&day, "new", Cost::ONE).is_ok());
        assert!(store.acquire_now(&day, "newer", Cost::ONE).is_err());
        assert_eq!(store.len(), 101);
    }
}

#[test]
fn a_full_store_of_budgets_that_are_over_takes_as_many_new_ones() {
    let clock = manual_clock();
    let store = store_of(1000, &clock);
    let policy = policy("capacity/turnover", 1, 1000);
    for generation in 0..5_u64 {
        for who in 0..1000 {
            let who = generation * 1000 + who;
            assert!(store.acquire_now(&policy, who, Cost::ONE).is_ok());
        }
        assert!(store.acquire_now(&policy, "one more", Cost::ONE).is_err());
        advance(&clock, 1001);
    }
    assert_eq!(store.len(), 1000);
}

#[test]
fn outdated_records_hide_an_expired_budget_from_a_few_refusals_at_most() {
    let clock = manual_clock();
    let store = store_of(200, &clock);
    let policy = policy("capacity/outdated", 1, 1000);
    let ask = |who: u64| store.acquire_now(&policy, who, Cost::ONE);
    (0..200).for_each(|who| assert!(ask(who).is_ok()));
    advance(&clock, 1001);
    // The last hundred are used again, the latest first: their first records are outdated.
    (100..200).rev().for_each(|who| assert!(ask(who).is_ok()));
    (0..).find(|more| ask(1000 + more).is_err()).unwrap();
    advance(&clock, 1001);
    let refusals = (0..200).take_while(|_| ask(5000).is_err()).count();
    assert!(refusals < 20, "{refusals} refusals");
}
