//! A limiter: what a store's failure means, and whose receipt is whose.

use std::sync::Arc;

use limiter_core::{
    Acquire, Authority, BoundedStore, BudgetStore, Cost, CountingNonces, Decision, ErrorKind,
    FailureMode, Limit, Limiter, Policy, Refunded, Renewed, RequestId,
};

use crate::kept::KeptStore;
use crate::{clock, cost, length, named, now};

fn jobs(limit: u64) -> Policy {
    named("limited", limit)
        .in_flight(length(1000))
        .build()
        .unwrap()
}

/// A store that is never there.
fn away() -> BoundedStore<KeptStore> {
    BoundedStore::new(KeptStore::new(&clock()), 0)
}

fn limiter(policy: Policy, mode: FailureMode) -> Limiter<BoundedStore<KeptStore>> {
    Limiter::new(away(), [policy])
        .unwrap()
        .with_nonces(CountingNonces::new(1))
        .on_failure(mode)
}

fn fallback(store: KeptStore, share: u64) -> FailureMode {
    FailureMode::Fallback {
        store: Arc::new(store),
        share: Limit::new(share).unwrap(),
    }
}

#[test]
fn a_limiter_refuses_unless_it_is_told_otherwise_and_counts_what_it_admits() {
    let refusing = limiter(jobs(5), FailureMode::Refuse);
    let error = now(refusing.acquire("alice", Cost::ONE)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let admitting = limiter(jobs(5), FailureMode::Admit);
    for _ in 0..9 {
        let admission = now(admitting.acquire("alice", Cost::ONE))
            .unwrap()
            .admitted()
            .unwrap();
        assert_eq!(admission.authority(), Authority::FailureMode);
        assert!(admission.grants().is_empty());
    }
    assert_eq!(admitting.admitted_by_failure_mode(), 9);
}

#[test]
fn invalid_is_an_error_in_every_mode() {
    let admitting = limiter(jobs(5), FailureMode::Admit);
    let request = Acquire::of(&jobs(5), "alice", Cost::ONE);
    assert!(now(admitting.decide(request)).unwrap().is_admitted());
    let without = Limiter::new(KeptStore::new(&clock()), [jobs(5)]).unwrap();
    let error = now(without
        .on_failure(FailureMode::Admit)
        .acquire("alice", Cost::ONE));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_fallback_has_its_share_and_its_receipts_go_back_to_it() {
    let clock = clock();
    let limiter = limiter(jobs(5), fallback(KeptStore::new(&clock), 2));
    let mut receipts = Vec::new();
    for _ in 0..2 {
        let admission = now(limiter.acquire("alice", Cost::ONE))
            .unwrap()
            .admitted()
            .unwrap();
        assert_eq!(admission.authority(), Authority::Fallback);
        receipts.extend(admission.into_receipts());
    }
    assert!(
        !now(limiter.acquire("alice", Cost::ONE))
            .unwrap()
            .is_admitted()
    );
    let receipt = receipts.pop().unwrap();
    assert!(matches!(
        now(limiter.renew(&receipt)).unwrap(),
        Renewed::Extended { .. }
    ));
    assert_eq!(
        now(limiter.refund(receipt)).unwrap(),
        Refunded::Credited { units: 1 }
    );
    assert!(
        now(limiter.acquire("alice", Cost::ONE))
            .unwrap()
            .is_admitted()
    );
}

#[test]
fn a_share_does_not_raise_a_limit_nor_leave_a_burst_above_it() {
    let bucket = named("limited", 10)
        .token_bucket(length(1000), 10)
        .build()
        .unwrap();
    let limiter = limiter(bucket, fallback(KeptStore::new(&clock()), 3));
    assert!(
        now(limiter.acquire("alice", cost(3)))
            .unwrap()
            .is_admitted()
    );
    assert!(
        !now(limiter.acquire("alice", Cost::ONE))
            .unwrap()
            .is_admitted()
    );
    let one = Limiter::new(
        away(),
        [named("one", 1).rolling(length(1000)).build().unwrap()],
    );
    let one = one
        .unwrap()
        .on_failure(fallback(KeptStore::new(&clock()), 3));
    assert!(now(one.acquire("alice", Cost::ONE)).unwrap().is_admitted());
    assert!(!now(one.acquire("alice", Cost::ONE)).unwrap().is_admitted());
}

#[test]
fn a_request_under_an_id_charges_once() {
    let store = KeptStore::new(&clock());
    let limiter = Limiter::new(store, [jobs(5)])
        .unwrap()
        .with_nonces(CountingNonces::random());
    let ask = || {
        let id = RequestId::new("a").unwrap();
        match now(limiter.acquire_once(id, "alice", Cost::ONE)).unwrap() {
            Decision::Admitted(admission) => admission.is_repeat(),
            Decision::Denied(denial) => panic!("{denial:?}"),
        }
    };
    assert_eq!((ask(), ask(), ask()), (false, true, true));
    let budget = limiter_core::Budget::of(&jobs(5), "alice");
    assert_eq!(now(limiter.store().peek(&budget)).unwrap().total, 1);
}
