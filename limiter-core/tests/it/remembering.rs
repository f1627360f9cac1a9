//! Remembered denials: never an admission more, and a denial too long by no more than is declared.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use limiter_core::conformance::{Form, Manual, check};
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, CountingNonces, Decision, Error, ManualClock,
    Nonce, Nonces, Policy, Receipt, Refunded, RememberingStore, RequestId, RuleKind, Snapshot,
};
use proptest::prelude::*;

use crate::kept::KeptStore;
use crate::{clock, cost, length, named, now};

/// Counts how often it is asked, and may take its time.
#[derive(Debug)]
struct Asked {
    inner: Arc<KeptStore>,
    clock: ManualClock,
    takes: Duration,
    times: AtomicU64,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Asked")
    }
}

#[async_trait]
impl BudgetStore for Asked {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        self.times.fetch_add(1, Ordering::Relaxed);
        self.clock.advance(self.takes);
        self.inner.acquire(request).await
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.inner.peek(budget).await
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.inner.reset(budget).await
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.inner.refund(receipt).await
    }
}

type Remembering = RememberingStore<Arc<Asked>, ManualClock>;

fn remembering(takes: Duration) -> (ManualClock, Arc<Asked>, Remembering) {
    let clock = clock();
    let asked = Arc::new(Asked {
        inner: Arc::new(KeptStore::new(&clock)),
        clock: clock.clone(),
        takes,
        times: AtomicU64::new(0),
    });
    let most = NonZeroUsize::new(100).unwrap();
    let store = RememberingStore::new(Arc::clone(&asked), clock.clone(), most);
    (clock, asked, store)
}

fn minute(limit: u64) -> Policy {
    let policy = named("remembered", limit).first_arrival(length(60_000));
    policy.build().unwrap()
}

fn ask(store: &impl BudgetStore, policy: &Policy, who: &str, units: u64) -> Decision {
    static NONCES: LazyLock<CountingNonces> = LazyLock::new(CountingNonces::random);
    let request = Acquire::of(policy, who, cost(units)).with_nonce(NONCES.next());
    now(store.acquire(&request)).unwrap()
}

fn admits(store: &impl BudgetStore, policy: &Policy, who: &str, units: u64) -> bool {
    ask(store, policy, who, units).is_admitted()
}

#[test]
fn a_flood_of_denied_calls_reaches_the_store_once_per_recheck() {
    let (clock, asked, store) = remembering(Duration::ZERO);
    let policy = minute(1);
    assert!(admits(&store, &policy, "alice", 1));
    for _ in 0..60 {
        for _ in 0..100 {
            assert!(!admits(&store, &policy, "alice", 1));
        }
        clock.advance(length(1000));
    }
    assert_eq!(asked.times.load(Ordering::Relaxed), 1 + 60);
    clock.advance(length(1));
    assert!(admits(&store, &policy, "alice", 1));
}

#[test]
fn a_denial_counts_from_when_it_was_sent_and_tells_what_is_left_of_its_wait() {
    let (clock, asked, store) = remembering(length(50));
    let policy = minute(1);
    assert!(admits(&store, &policy, "alice", 1));
    // Sent at the instant of the admission, decided 50 ms later: 59,951 ms from then.
    let told = ask(&store, &policy, "alice", 1).denied().unwrap();
    assert_eq!(told.wait().duration(), Some(length(59_951)));
    clock.advance(length(900));
    let remembered = ask(&store, &policy, "alice", 1).denied().unwrap();
    assert_eq!(asked.times.load(Ordering::Relaxed), 2);
    assert_eq!(remembered.wait().duration(), Some(length(59_951 - 950)));
    assert_eq!(remembered.refusals()[0].remaining, 0);
}

#[test]
fn windows_deny_what_is_above_the_rest_and_buckets_what_is_at_least_what_was_denied() {
    let (_, asked, store) = remembering(Duration::ZERO);
    let (window, bucket) = (minute(10), named("b", 10).token_bucket(length(60_000), 10));
    for (policy, remembered) in [(window, [4, 5, 9]), (bucket.build().unwrap(), [6, 7, 9])] {
        assert!(admits(&store, &policy, "alice", 7));
        assert!(!admits(&store, &policy, "alice", 6));
        let before = asked.times.load(Ordering::Relaxed);
        for units in remembered {
            assert!(!admits(&store, &policy, "alice", units));
        }
        assert_eq!(asked.times.load(Ordering::Relaxed), before);
        // Never is for the store to say, and what is left for it to give.
        let never = ask(&store, &policy, "alice", 11).denied().unwrap();
        assert_eq!(never.wait().duration(), None);
        assert!(admits(&store, &policy, "alice", 3));
        assert_eq!(asked.times.load(Ordering::Relaxed), before + 2);
    }
}

#[test]
fn a_refund_or_a_reset_through_it_ends_a_denial_at_once() {
    let (_, _, store) = remembering(Duration::ZERO);
    let policy = named("r", 1).first_arrival(length(60_000)).refundable();
    let policy = policy.build().unwrap();
    let admitted = ask(&store, &policy, "alice", 1).admitted().unwrap();
    assert!(!admits(&store, &policy, "alice", 1));
    let receipt = admitted.into_receipts().next().unwrap();
    assert_eq!(now(store.refund(receipt)).unwrap().units(), 1);
    assert!(admits(&store, &policy, "alice", 1));
    assert!(!admits(&store, &policy, "alice", 1));
    now(store.reset(&Budget::of(&policy, "alice"))).unwrap();
    assert!(admits(&store, &policy, "alice", 1));
}

/// Answers what it decided only when it is asked once more.
#[derive(Debug)]
struct Slow(Arc<Asked>);

impl fmt::Display for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slow")
    }
}

#[async_trait]
impl BudgetStore for Slow {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        let decision = self.0.acquire(request).await;
        let mut is_first = true;
        std::future::poll_fn(|_| match std::mem::take(&mut is_first) {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(()),
        })
        .await;
        decision
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.0.peek(budget).await
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.0.reset(budget).await
    }
}

#[test]
fn a_denial_that_was_under_way_while_its_budget_was_reset_is_not_remembered() {
    let (clock, asked, _) = remembering(Duration::ZERO);
    let store = RememberingStore::new(Slow(Arc::clone(&asked)), clock, NonZeroUsize::MIN);
    let policy = minute(1);
    assert!(admits(&asked, &policy, "alice", 1));
    let request = Acquire::of(&policy, "alice", cost(1));
    let mut denied = store.acquire(&request);
    assert!(denied.as_mut().now_or_never().is_none());
    now(store.reset(&Budget::of(&policy, "alice"))).unwrap();
    assert!(!now(denied).unwrap().is_admitted());
    let mut fresh = store.acquire(&request);
    assert!(fresh.as_mut().now_or_never().is_none());
    assert!(now(fresh).unwrap().is_admitted());
}

#[test]
fn what_others_give_back_is_seen_after_a_recheck_and_a_raised_limit_here_at_once() {
    let (clock, asked, store) = remembering(Duration::ZERO);
    let policy = minute(1);
    assert_eq!(store.capabilities().stale_denials, Some(length(1000)));
    assert!(admits(&store, &policy, "alice", 1));
    assert!(!admits(&store, &policy, "alice", 1));
    now(asked.reset(&Budget::of(&policy, "alice"))).unwrap();
    clock.advance(length(999));
    assert!(!admits(&store, &policy, "alice", 1));
    clock.advance(length(1));
    assert!(admits(&store, &policy, "alice", 1));
    assert!(!admits(&store, &policy, "alice", 1));
    assert!(admits(&store, &minute(2), "alice", 1));
}

#[test]
fn request_ids_leases_and_clocks_that_were_set_back_are_asked_for() {
    let (clock, asked, store) = remembering(Duration::ZERO);
    let policy = minute(1);
    let leases = named("l", 1).in_flight(length(60_000)).build().unwrap();
    for policy in [&policy, &leases] {
        assert!(admits(&store, policy, "alice", 1));
        assert!(!admits(&store, policy, "alice", 1));
    }
    let before = asked.times.load(Ordering::Relaxed);
    let id = RequestId::new(b"id").unwrap();
    let request = Acquire::of(&policy, "alice", cost(1))
        .remembered_for(id, length(1000))
        .unwrap();
    assert!(!now(store.acquire(&request)).unwrap().is_admitted());
    let other = Nonce::from_bytes([8; 16]);
    let lease = Acquire::of(&leases, "alice", cost(1)).with_nonce(other);
    assert!(!now(store.acquire(&lease)).unwrap().is_admitted());
    clock.set(crate::ms(1_600_000_000_000));
    assert!(!admits(&store, &policy, "alice", 1));
    assert_eq!(asked.times.load(Ordering::Relaxed), before + 3);
}

#[test]
fn denials_beyond_the_bound_push_out_others() {
    let (clock, asked, _) = remembering(Duration::ZERO);
    let store = RememberingStore::new(Arc::clone(&asked), clock, NonZeroUsize::MIN);
    let policy = minute(0);
    let one = named("remembered", 1).first_arrival(length(60_000));
    let one = one.build().unwrap();
    let five = ["alice", "bob", "carol", "dave", "eve"];
    for who in five {
        assert!(admits(&store, &one, who, 1));
    }
    for who in five {
        assert!(!admits(&store, &one, who, 1));
    }
    assert_eq!(asked.times.load(Ordering::Relaxed), 5 + 5);
    // Four are remembered: the fifth has pushed out the first.
    for who in ["bob", "carol", "dave", "eve", "alice"] {
        assert!(!admits(&store, &one, who, 1));
    }
    assert_eq!(asked.times.load(Ordering::Relaxed), 5 + 5 + 1);
    // A limit of 0 has no end that could be remembered.
    assert!(!admits(&store, &policy, "alice", 1));
    assert!(!admits(&store, &policy, "alice", 1));
    assert_eq!(asked.times.load(Ordering::Relaxed), 5 + 5 + 1 + 2);
}

fn report(store: &dyn BudgetStore, clock: ManualClock) -> limiter_core::conformance::Report {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime
        .unwrap()
        .block_on(check(store, &Manual(clock), "remembering"))
}

#[test]
fn it_keeps_every_clause() {
    let (clock, _, _) = remembering(Duration::ZERO);
    let kept = KeptStore::new(&clock);
    let most = NonZeroUsize::new(1000).unwrap();
    let store = RememberingStore::new(kept, clock.clone(), most);
    let report = report(&store, clock);
    assert!(report.passed(), "{report}");
}

/// Does not tell it of refunds and resets.
#[derive(Debug)]
struct Untold(
    RememberingStore<Arc<KeptStore>, ManualClock>,
    Arc<KeptStore>,
);

impl fmt::Display for Untold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Untold")
    }
}

#[async_trait]
impl BudgetStore for Untold {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        self.0.acquire(request).await
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.0.peek(budget).await
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        self.1.refund(receipt).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<limiter_core::Renewed, Error> {
        self.1.renew(receipt).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.1.reset(budget).await
    }
}

#[test]
fn one_that_is_not_told_of_refunds_and_resets_is_caught() {
    let clock = clock();
    let kept = Arc::new(KeptStore::new(&clock));
    let most = NonZeroUsize::new(1000).unwrap();
    let remembering = RememberingStore::new(Arc::clone(&kept), clock.clone(), most);
    let report = report(&Untold(remembering, kept), clock);
    assert_eq!(report.broken(), ["refund", "reset"], "{report}");
}

#[derive(Clone, Debug)]
enum Call {
    Wait(u64),
    Ask(usize, u64, u64),
    Refund,
    Reset(usize),
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        2 => (1..60_u64).prop_map(Call::Wait),
        8 => (0..9_usize, 3..6_u64, 1..6_u64).prop_map(|(form, limit, cost)| Call::Ask(form, limit, cost)),
        2 => Just(Call::Refund),
        1 => (0..9_usize).prop_map(Call::Reset),
    ]
}

fn policy(form: usize, limit: u64) -> Policy {
    let form = Form::ALL[form];
    let built = named("p", limit);
    let built = match form.rule {
        RuleKind::FirstArrival => built.first_arrival(length(100)),
        RuleKind::Aligned => built.aligned(length(100)),
        RuleKind::Rolling => built.rolling(length(100)),
        RuleKind::TokenBucket => built.token_bucket(length(100), limit - 1),
        _ => built.in_flight(length(100)),
    };
    let built = match form.refundable {
        true => built.refundable(),
        false => built,
    };
    built.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever one process asks, refunds and resets through it, at whatever limits, it admits and
    /// denies what the store alone would have.
    #[test]
    fn one_process_gets_the_decisions_of_the_store_alone(calls in prop::collection::vec(call(), 1..150)) {
        let clock = clock();
        let alone = KeptStore::new(&clock);
        let most = NonZeroUsize::new(4).unwrap();
        let store = RememberingStore::new(KeptStore::new(&clock), clock.clone(), most);
        let store = store.recheck(length(70));
        let mut receipts = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            match call {
                Call::Wait(ms) => clock.advance(length(*ms)),
                Call::Ask(form, limit, units) => {
                    let nonce = Nonce::from_bytes((number as u128 + 1).to_be_bytes());
                    let request = Acquire::of(&policy(*form, *limit), "alice", cost(*units));
                    let request = request.with_nonce(nonce);
                    let ours = now(store.acquire(&request)).unwrap();
                    let theirs = now(alone.acquire(&request)).unwrap();
                    prop_assert_eq!(ours.is_admitted(), theirs.is_admitted(), "{:?} after {:?}", call, &calls[..number]);
                    if let (Some(ours), Some(theirs)) = (ours.admitted(), theirs.admitted()) {
                        receipts.extend(ours.into_receipts().zip(theirs.into_receipts()));
                    }
                }
                Call::Refund => {
                    if let Some((ours, theirs)) = receipts.pop() {
                        prop_assert_eq!(now(store.refund(ours)).unwrap(), now(alone.refund(theirs)).unwrap());
                    }
                }
                Call::Reset(form) => {
                    let budget = Budget::of(&policy(*form, 3), "alice");
                    now(store.reset(&budget)).unwrap();
                    now(alone.reset(&budget)).unwrap();
                }
            }
        }
    }
}
