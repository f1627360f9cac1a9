use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{Acquire, Budget, BudgetStore, Cost, Decision, RuleSet, Wait};

use crate::{admitted, advance, denied, manual_clock, policy, store_of};

#[test]
fn a_window_admits_its_limit_once_and_the_next_one_opens_after_it() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("contract/window", 2, 1000);
    let ask = || store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
    assert_eq!(ask(), admitted(1, 1, 1001));
    advance(&clock, 400);
    assert_eq!(ask(), admitted(2, 0, 601));
    assert_eq!(ask(), denied(0, 601));
    advance(&clock, 600);
    assert_eq!(ask(), denied(0, 1));
    advance(&clock, 1);
    assert_eq!(ask(), admitted(1, 1, 1001));
}

#[test]
fn a_denial_changes_nothing() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("contract/inert", 5, 1000);
    let _ = store.acquire_now(&policy, "alice", crate::cost(3)).unwrap();
    let before = store.peek_now(&policy, "alice").unwrap();
    let outcome = store.acquire_now(&policy, "alice", crate::cost(3)).unwrap();
    assert_eq!(outcome, denied(2, 1001));
    assert_eq!(store.peek_now(&policy, "alice").unwrap(), before);
}

#[test]
fn a_changed_limit_holds_from_the_next_acquire() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let five = policy("contract/changed", 5, 1000);
    let two = policy("contract/changed", 2, 1000);
    let ask = |policy| store.acquire_now(policy, "alice", Cost::ONE).unwrap();
    for total in 1..=3 {
        assert_eq!(ask(&five), admitted(total, 5 - total, 1001));
    }
    assert_eq!(ask(&two), denied(0, 1001));
    assert_eq!(store.peek_now(&two, "alice").unwrap().total, 3);
    assert_eq!(ask(&five), admitted(4, 1, 1001));
}

#[test]
fn the_trait_gives_the_answers_of_the_synchronous_path() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("contract/trait", 1, 1000);
    let request = Acquire::of(&policy, "alice", Cost::ONE);
    let ask = || store.acquire(&request).now_or_never().unwrap().unwrap();

    let Decision::Admitted(admission) = ask() else {
        panic!("the first is admitted");
    };
    let grant = &admission.grants()[0];
    assert_eq!((grant.total, grant.remaining), (1, 0));
    assert_eq!(grant.resets_in, Duration::from_millis(1001));

    let denial = ask().denied().expect("the second is denied");
    assert_eq!(denial.wait(), Wait::For(Duration::from_millis(1001)));
    let refused = &denial.refusals()[0].budget;
    assert_eq!(refused.key(), Budget::of(&policy, "alice").key());

    let peeked = store.peek(refused).now_or_never().unwrap().unwrap();
    assert_eq!(peeked, store.peek_now(&policy, "alice").unwrap());
    assert_eq!(peeked.total, 1);
}

#[test]
fn it_offers_the_whole_contract() {
    let offered = store_of(10, &manual_clock()).capabilities();
    assert_eq!(
        (offered.rules, offered.refunds),
        (RuleSet::ALL, RuleSet::ALL)
    );
    assert!(offered.request_ids && offered.resets && !offered.shared);
    assert_eq!(offered.max_charges, Acquire::MAX_CHARGES);
}

#[test]
fn its_display_names_it_and_its_debug_names_nobody() {
    let store = store_of(10, &manual_clock());
    let policy = policy("contract/display", 5, 1000);
    let _ = store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
    assert_eq!(store.to_string(), "MemoryStore");
    let debug = format!("{store:?}");
    assert!(
        debug.contains("len: 1") && !debug.contains("alice"),
        "{debug}"
    );
}
