//! Request ids, on a store that keeps the whole contract.

use limiter_core::{
    Acquire, Admission, BudgetStore, Cost, ErrorKind, Nonce, Policy, Record, Refunded, RequestId,
};

use crate::kept::KeptStore;
use crate::{clock, cost, length, named, now};

fn id(id: &str) -> RequestId {
    RequestId::new(id).unwrap()
}

fn acquire(store: &KeptStore, request: &Acquire) -> Admission {
    now(store.acquire(request))
        .unwrap()
        .admitted()
        .expect("it is admitted")
}

fn bucket() -> Policy {
    let built = named("records", 10).token_bucket(length(86_400_000), 10);
    built.refundable().build().unwrap()
}

#[test]
fn a_repeat_returns_the_first_admission_and_charges_nothing() {
    let (clock, policy) = (clock(), bucket());
    let store = KeptStore::new(&clock);
    let request = Acquire::of(&policy, "alice", cost(3)).with_id(id("a"));
    let first = acquire(&store, &request);
    clock.advance(length(300_000));
    let repeat = acquire(&store, &request);
    assert!(!first.is_repeat() && repeat.is_repeat());
    assert_eq!(first.grants()[0].total, repeat.grants()[0].total);
    assert_eq!(first.grants()[0].receipt, repeat.grants()[0].receipt);
    clock.advance(length(1));
    assert!(!acquire(&store, &request).is_repeat());
}

#[test]
fn a_receipt_that_comes_twice_gives_back_once_however_late() {
    let (clock, policy) = (clock(), bucket());
    let store = KeptStore::new(&clock);
    let request = Acquire::of(&policy, "alice", cost(3)).with_id(id("a"));
    let mut receipts = Vec::new();
    for _ in 0..3 {
        receipts.extend(acquire(&store, &request).into_receipts());
    }
    let mut refund = || now(store.refund(receipts.pop().unwrap())).unwrap();
    assert_eq!(refund(), Refunded::Credited { units: 3 });
    assert_eq!(refund(), Refunded::Repeated);
    clock.advance(length(300_001));
    assert_eq!(refund(), Refunded::Late);
}

#[test]
fn another_question_under_the_id_and_a_repeat_after_a_refund_are_invalid() {
    let (clock, policy) = (clock(), bucket());
    let store = KeptStore::new(&clock);
    let request = Acquire::of(&policy, "alice", cost(3)).with_id(id("a"));
    let receipts = acquire(&store, &request).into_receipts();
    for other in [
        Acquire::of(&policy, "alice", cost(2)).with_id(id("a")),
        Acquire::of(&policy, "bob", cost(3)).with_id(id("a")),
    ] {
        let error = now(store.acquire(&other)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
    }
    receipts.for_each(|receipt| drop(now(store.refund(receipt))));
    let error = now(store.acquire(&request)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("refunded"), "{error}");
}

#[test]
fn a_denial_is_not_recorded() {
    let clock = clock();
    let store = KeptStore::new(&clock);
    let policy = named("records", 1)
        .first_arrival(length(1000))
        .build()
        .unwrap();
    acquire(&store, &Acquire::of(&policy, "alice", Cost::ONE));
    let request = Acquire::of(&policy, "alice", Cost::ONE).with_id(id("a"));
    assert!(!now(store.acquire(&request)).unwrap().is_admitted());
    clock.advance(length(1001));
    assert!(!acquire(&store, &request).is_repeat());
}

#[test]
fn equal_instants_of_two_rolling_budgets_are_refunded_each() {
    let (clock, rolling) = (
        clock(),
        named("records", 5).rolling(length(1000)).refundable(),
    );
    let store = KeptStore::new(&clock);
    let policy = rolling.build().unwrap();
    let budgets = ["alice", "bob"].map(|who| limiter_core::Budget::of(&policy, who));
    let charges = budgets.map(|budget| limiter_core::Charge::new(budget, Cost::ONE));
    let request = Acquire::all(charges).unwrap().with_id(id("a"));
    let request = request.with_nonce(Nonce::from_bytes([1; 16]));
    for receipt in acquire(&store, &request).into_receipts() {
        assert_eq!(
            now(store.refund(receipt)).unwrap(),
            Refunded::Credited { units: 1 }
        );
    }
}

#[test]
fn ids_have_1_to_64_bytes() {
    assert!(RequestId::new([7; 64]).is_ok());
    for length in [0, 65] {
        let error = RequestId::new(vec![7; length]).unwrap_err();
        assert!(error.message().contains("1 to 64"), "{error}");
    }
}

#[test]
fn a_record_comes_back_from_its_bytes_and_from_no_others() {
    let (clock, windows) = (clock(), named("records", 5).aligned(length(1000)));
    let store = KeptStore::new(&clock);
    let charges = [bucket(), windows.build().unwrap()]
        .map(|policy| limiter_core::Budget::of(&policy, "alice"))
        .map(|budget| limiter_core::Charge::new(budget, Cost::ONE));
    let request = Acquire::all(charges).unwrap().with_id(id("a"));
    let admission = acquire(&store, &request);
    let at = limiter_core::Clock::now(&clock);
    let mut record = Record::of(&request, &admission, at).unwrap();
    for receipt in admission.into_receipts() {
        let read = Record::from_bytes(&record.to_bytes()).unwrap();
        assert_eq!(read, record);
        assert!(read.repeat(&request).is_ok());
        record.refunded(&receipt);
    }
    let bytes = record.to_bytes();
    assert!(
        Record::from_bytes(&bytes)
            .unwrap()
            .repeat(&request)
            .is_err()
    );
    for cut in 0..bytes.len() {
        let error = Record::from_bytes(&bytes[..cut]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    assert!(Record::from_bytes(&[&bytes[..], &[9]].concat()).is_err());
}
