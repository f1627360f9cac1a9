//! Several budgets at once, every rule, refunds and request ids.

use std::time::Duration;

use limiter_core::{
    Acquire, Admission, Budget, Charge, Cost, Denial, ErrorKind, ManualClock, Nonce, Policy,
    PolicyBuilder, Refunded, Renewed, RequestId, Wait,
};
use limiter_memory::MemoryStore;

use crate::{advance, cost, manual_clock, policy, set_back, store_of};

const LONG: &str = "an identity of more than fifteen bytes";

fn built(scope: &str, rule: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Policy {
    rule(Policy::named("tested").scope(scope).limit(3))
        .build()
        .unwrap()
}

fn second() -> Duration {
    Duration::from_secs(1)
}

/// One policy of every kind of entry, each with a limit of 3.
fn every_kind() -> Vec<Policy> {
    vec![
        policy("together/first", 3, 1000),
        built("together/aligned", |p| p.aligned(second())),
        built("together/refundable", |p| {
            p.first_arrival(second()).refundable()
        }),
        built("together/rolling", |p| p.rolling(second()).refundable()),
        built("together/bucket", |p| {
            p.token_bucket(second(), 3).refundable()
        }),
        built("together/jobs", |p| p.in_flight(second())),
    ]
}

fn charges(units: u64) -> Vec<Charge> {
    let mut charges = Vec::new();
    for policy in every_kind() {
        for budget in [Budget::of(&policy, "alice"), Budget::of(&policy, LONG)] {
            charges.push(Charge::new(budget, cost(units)));
        }
    }
    charges
}

fn request(charges: Vec<Charge>, nonce: u8) -> Acquire {
    let request = Acquire::all(charges).unwrap();
    request.with_nonce(Nonce::from_bytes([nonce; 16]))
}

fn admit(store: &MemoryStore<ManualClock>, request: &Acquire) -> Admission {
    store
        .decide_now(request)
        .unwrap()
        .admitted()
        .expect("it is admitted")
}

fn deny(store: &MemoryStore<ManualClock>, request: &Acquire) -> Denial {
    store
        .decide_now(request)
        .unwrap()
        .denied()
        .expect("it is denied")
}

#[test]
fn twelve_budgets_of_every_kind_are_charged_together_or_not_at_all() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let admission = admit(&store, &request(charges(2), 1));
    assert_eq!(admission.grants().len(), 12);
    assert_eq!(store.len(), 12);
    let denial = deny(&store, &request(charges(2), 2));
    assert_eq!(denial.refusals().len(), 12);
    for charge in charges(2) {
        let seen = store
            .peek_now(charge.budget().policy(), charge.budget())
            .unwrap();
        assert_eq!((seen.total, seen.remaining), (2, 1), "{charge:?}");
    }
    advance(&clock, 1001);
    admit(&store, &request(charges(3), 3));
}

#[test]
fn one_denial_charges_none_names_itself_and_the_longest_wait() {
    let store = store_of(100, &manual_clock());
    let long = policy("together/minute", 1, 60_000);
    let short = policy("together/second", 1, 1000);
    let both = |store: &MemoryStore<ManualClock>, who: &str, other: &str| {
        let charges = [Budget::of(&long, who), Budget::of(&short, other)]
            .map(|budget| Charge::new(budget, Cost::ONE));
        store.decide_now(&Acquire::all(charges).unwrap()).unwrap()
    };
    assert!(both(&store, "alice", "alice").is_admitted());
    let denial = both(&store, "bob", "alice").denied().unwrap();
    assert_eq!(denial.refusals().len(), 1);
    assert_eq!(denial.refusals()[0].budget, Budget::of(&short, "alice"));
    assert_eq!(store.peek_now(&long, "bob").unwrap().total, 0);
    let denial = both(&store, "alice", "alice").denied().unwrap();
    assert_eq!(denial.wait(), Wait::For(Duration::from_millis(60_001)));
    assert_eq!(store.len(), 2);
}

#[test]
fn where_there_is_room_for_some_budgets_only_none_is_charged() {
    let clock = manual_clock();
    let store = store_of(11, &clock);
    let error = store.decide_now(&request(charges(1), 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(store.is_empty());
    let mut eleven = charges(1);
    eleven.pop();
    admit(&store, &request(eleven, 2));
    assert_eq!(store.len(), 11);
    advance(&clock, 1001);
    let others = ["x", "y", "z"].map(|who| Budget::of(&policy("together/new", 1, 1000), who));
    let others = others.map(|budget| Charge::new(budget, Cost::ONE)).to_vec();
    admit(&store, &request(others, 3));
}

#[test]
fn every_kind_is_removed_when_it_can_deny_no_more() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let with_id = request(charges(1), 1).with_id(RequestId::new("a").unwrap());
    admit(&store, &with_id);
    advance(&clock, 1001);
    assert_eq!(store.remove_expired(usize::MAX), 12);
    assert!(store.is_empty());
}

#[test]
fn refunds_renewals_and_releases_reach_every_rule_that_gives_receipts() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let receipts: Vec<_> = admit(&store, &request(charges(2), 1))
        .into_receipts()
        .collect();
    assert_eq!(receipts.len(), 8);
    for receipt in receipts {
        let budget = receipt.budget().clone();
        if let Renewed::Lost = store.renew_now(&receipt).unwrap_or(Renewed::Lost) {
            assert_ne!(budget.policy().scope(), "together/jobs");
        }
        assert_eq!(
            store.refund_now(receipt).unwrap(),
            Refunded::Credited { units: 2 }
        );
        assert_eq!(store.peek_now(budget.policy(), &budget).unwrap().total, 0);
    }
}

#[test]
fn a_repeat_under_a_request_id_charges_nothing_until_its_record_is_over() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let asked = request(charges(1), 1).with_id(RequestId::new("a").unwrap());
    assert!(!admit(&store, &asked).is_repeat());
    for _ in 0..5 {
        assert!(admit(&store, &asked).is_repeat());
    }
    let budget = Budget::of(&every_kind()[0], "alice");
    assert_eq!(store.peek_now(budget.policy(), &budget).unwrap().total, 1);
    advance(&clock, 300_001);
    let asked = request(charges(1), 2).with_id(RequestId::new("a").unwrap());
    assert!(!admit(&store, &asked).is_repeat());
}

#[test]
fn a_store_that_remembers_enough_is_unavailable_for_ids_and_goes_on_without() {
    let clock = manual_clock();
    let builder = MemoryStore::builder().shards(2).remembered_requests(2);
    let store = builder.clock(clock.clone()).build().unwrap();
    let policy = policy("together/remembered", 100, 1000);
    let ask = |id: &str| {
        let asked = Acquire::of(&policy, "alice", Cost::ONE).with_id(RequestId::new(id).unwrap());
        store.decide_now(&asked)
    };
    assert!(ask("a").is_ok() && ask("b").is_ok() && ask("a").is_ok());
    assert_eq!(ask("c").unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(store.peek_now(&policy, "alice").unwrap().total, 2);
    assert!(
        store
            .acquire_now(&policy, "alice", Cost::ONE)
            .unwrap()
            .is_admitted()
    );
    advance(&clock, 300_001);
    for id in ["a", "c", "a", "c"] {
        assert!(ask(id).is_ok(), "{id}");
    }
    assert!(ask("d").is_err());
}

#[test]
fn a_reset_budget_is_as_if_never_used_and_its_receipts_are_late() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let admission = admit(&store, &request(charges(3), 1));
    for charge in charges(1) {
        store.reset_now(charge.budget());
    }
    assert!(store.is_empty());
    for receipt in admission.into_receipts() {
        assert_eq!(store.refund_now(receipt).unwrap(), Refunded::Late);
    }
    admit(&store, &request(charges(3), 2));
    advance(&clock, 1001);
    assert_eq!(store.remove_expired(usize::MAX), 12);
}

#[test]
fn waits_of_every_rule_grow_by_as_much_as_the_clock_stepped_back() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    admit(&store, &request(charges(3), 1));
    let waits = |nonce| {
        let denial = deny(&store, &request(charges(3), nonce));
        let waits = denial
            .refusals()
            .iter()
            .map(|refusal| refusal.wait.duration().unwrap());
        waits.collect::<Vec<_>>()
    };
    let before = waits(2);
    set_back(&clock, 11_000);
    for (before, after) in before.iter().zip(waits(3)) {
        assert_eq!(after, *before + Duration::from_secs(11));
    }
}

#[test]
fn a_policy_that_needs_a_nonce_is_invalid_on_the_short_path() {
    let store = store_of(100, &manual_clock());
    let jobs = built("together/jobs", |p| p.in_flight(second()));
    let error = store.acquire_now(&jobs, "alice", Cost::ONE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let bucket = built("together/bucket", |p| p.token_bucket(second(), 3));
    assert!(
        store
            .acquire_now(&bucket, "alice", Cost::ONE)
            .unwrap()
            .is_admitted()
    );
}
