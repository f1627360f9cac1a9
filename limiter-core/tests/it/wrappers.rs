//! Stores around a store.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::FutureExt;
use limiter_core::{
    Acquire, Authority, BoundedStore, Budget, BudgetStore, BudgetStoreExt, Capabilities,
    CircuitStore, Cost, DeadlineStore, Decision, Error, ErrorKind, ManualClock, Observer,
    PartitionedStore, Policy, ShadowStore, Share, Snapshot, Wait,
};

use crate::kept::KeptStore;
use crate::{clock, cost, length, named, now};

fn policy(limit: u64) -> Policy {
    named("wrapped", limit)
        .first_arrival(length(1000))
        .build()
        .unwrap()
}

/// Answers nothing, or fails as it is told.
#[derive(Debug, Default)]
struct Moody {
    fails: Mutex<Option<ErrorKind>>,
    hangs: bool,
    asked: AtomicU64,
}

impl Moody {
    fn failing(kind: ErrorKind) -> Self {
        Self {
            fails: Mutex::new(Some(kind)),
            ..Self::default()
        }
    }

    async fn answer(&self) -> Result<(), Error> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        match *self.fails.lock().unwrap() {
            Some(kind) => Err(Error::new(kind, "moody")),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Moody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Moody")
    }
}

#[async_trait]
impl BudgetStore for Moody {
    async fn acquire(&self, _request: &Acquire) -> Result<Decision, Error> {
        self.answer().await?;
        Ok(Decision::Admitted(limiter_core::Admission::new([])))
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.answer().await?;
        Ok(Snapshot::unused(budget.policy().limit()))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::in_process()
    }
}

fn ask(store: &impl BudgetStore) -> Result<Decision, Error> {
    now(store.acquire_one(&policy(5), "alice", Cost::ONE))
}

#[test]
fn beyond_the_bound_a_call_is_unavailable_at_once_and_a_dropped_one_makes_room() {
    let store = BoundedStore::new(
        Moody {
            hangs: true,
            ..Moody::default()
        },
        1,
    );
    let (first, second) = (policy(5), policy(5));
    let mut waiting = Box::pin(store.acquire_one(&first, "alice", Cost::ONE));
    assert!(waiting.as_mut().now_or_never().is_none());
    let error = now(store.acquire_one(&second, "alice", Cost::ONE)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(!error.may_have_spent());
    drop(waiting);
    assert_eq!(store.under_way(), 0);
    assert_eq!(store.to_string(), "BoundedStore(Moody)");
}

fn circuit(kind: ErrorKind, clock: &ManualClock) -> CircuitStore<Moody, ManualClock> {
    CircuitStore::new(Moody::failing(kind), clock.clone(), 3, length(1000)).unwrap()
}

#[test]
fn a_circuit_opens_after_three_failures_in_a_row_and_probes_once_per_interval() {
    for kind in [ErrorKind::Unavailable, ErrorKind::Uncertain] {
        let clock = clock();
        let inner = std::sync::Arc::new(Moody::failing(kind));
        let store = CircuitStore::new(inner.clone(), clock.clone(), 3, length(1000)).unwrap();
        let asked = || inner.asked.load(Ordering::Relaxed);
        for _ in 0..3 {
            assert_eq!(ask(&store).unwrap_err().kind(), kind);
        }
        assert_eq!(store.next_probe_in(), Some(length(1000)));
        clock.advance(length(400));
        let error = ask(&store).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!((error.retry_in(), asked()), (Some(length(600)), 3));
        clock.advance(length(600));
        assert_eq!(ask(&store).unwrap_err().kind(), kind);
        assert_eq!(ask(&store).unwrap_err().retry_in(), Some(length(1000)));
        assert_eq!(asked(), 4);
        clock.advance(length(1000));
        *inner.fails.lock().unwrap() = None;
        assert!(ask(&store).is_ok() && ask(&store).is_ok());
        assert_eq!(store.next_probe_in(), None);
    }
}

#[test]
fn answers_and_corrupt_state_are_no_failures_of_a_store() {
    let clock = clock();
    for kind in [ErrorKind::Corrupt, ErrorKind::Invalid] {
        let store = circuit(kind, &clock);
        for _ in 0..10 {
            assert_eq!(ask(&store).unwrap_err().kind(), kind);
        }
        assert_eq!(store.next_probe_in(), None);
    }
}

#[test]
fn a_probe_that_is_dropped_or_a_clock_that_is_set_back_does_not_keep_a_circuit_open() {
    let clock = clock();
    let store = circuit(ErrorKind::Unavailable, &clock);
    for _ in 0..3 {
        assert!(ask(&store).is_err());
    }
    let start = limiter_core::Clock::now(&clock).as_millis();
    clock.set(crate::ms(start - 11_000));
    assert_eq!(ask(&store).unwrap_err().retry_in(), Some(length(1000)));
}

#[test]
fn a_circuit_that_would_never_ask_is_refused() {
    for (failures, interval) in [(0, 1000), (1, 0)] {
        let refused = CircuitStore::new(Moody::default(), clock(), failures, length(interval));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
    }
}

#[test]
fn a_deadline_that_passes_is_uncertain_and_opens_a_circuit_around_it() {
    let clock = clock();
    let hanging = Moody {
        hangs: true,
        ..Moody::default()
    };
    let bounded = DeadlineStore::new(hanging, clock.clone(), length(50));
    let store = CircuitStore::new(bounded, clock.clone(), 1, length(1000)).unwrap();
    let policy = policy(5);
    let mut call = Box::pin(store.acquire_one(&policy, "alice", Cost::ONE));
    assert!(call.as_mut().now_or_never().is_none());
    clock.advance(length(50));
    assert!(now(call).unwrap_err().may_have_spent());
    assert!(!ask(&store).unwrap_err().may_have_spent());
    assert_eq!(store.to_string(), "CircuitStore(DeadlineStore(Moody))");
}

#[test]
fn partitions_admit_the_limit_together_and_denials_name_the_budget_as_asked() {
    let (clock, ten) = (clock(), policy(10));
    let mut admitted = 0;
    for part in 0..4 {
        let share = Share::new(part, 4).unwrap();
        let store = PartitionedStore::new(KeptStore::new(&clock), share);
        loop {
            match now(store.acquire_one(&ten, "alice", Cost::ONE)).unwrap() {
                Decision::Admitted(_) => admitted += 1,
                Decision::Denied(denial) => {
                    let refusal = &denial.refusals()[0];
                    assert_eq!(refusal.budget.policy().limit(), ten.limit());
                    break;
                }
            }
        }
        let seen = now(store.peek(&Budget::of(&ten, "alice"))).unwrap();
        assert_eq!(
            (seen.total, seen.remaining),
            (share.of(ten.limit()).get(), 0)
        );
        let above = now(store.acquire_one(&ten, "bob", cost(4)))
            .unwrap()
            .denied()
            .unwrap();
        assert_eq!(above.wait(), Wait::Never);
        if part == 2 {
            assert_eq!(
                store.to_string(),
                "PartitionedStore(3 of 4, KeptStore(None))"
            );
        }
    }
    assert_eq!(admitted, 10);
}

#[derive(Debug, Default)]
struct Denials(AtomicU64);

impl Observer for Denials {
    fn observe(&self, _request: &Acquire, answer: Result<&Decision, &Error>) {
        if !answer.is_ok_and(Decision::is_admitted) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn shadow_mode_admits_everything_and_tells_what_was_denied() {
    let store = ShadowStore::new(KeptStore::new(&clock()), Denials::default());
    let by = |decision: Decision| decision.admitted().unwrap().authority();
    for authority in [Authority::Store, Authority::Store, Authority::Shadow] {
        let decision = now(store.acquire_one(&policy(2), "alice", Cost::ONE)).unwrap();
        assert_eq!(by(decision), authority);
    }
    assert_eq!(store.observer().0.load(Ordering::Relaxed), 1);
    let failing = ShadowStore::new(Moody::failing(ErrorKind::Corrupt), ());
    assert_eq!(by(ask(&failing).unwrap()), Authority::Shadow);
    let failing = ShadowStore::new(Moody::failing(ErrorKind::Invalid), ());
    assert!(ask(&failing).is_err());
}
