//! The concurrent core under every order of its steps.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p limiter-memory --release --test loom`
//!
//! It is the shipped code on loom's locks and atomics; `src/sync` says what loom does not see.
#![cfg(loom)]
#![allow(
    missing_docs,
    reason = "tests are named after the promise that they check"
)]

use std::time::Duration;

use ahash::RandomState;
use limiter_core::{
    Acquire, Budget, Charge, Clock, Cost, Decision, ErrorKind, Nonce, Policy, PolicyBuilder,
    Receipt, Refunded, RequestId, Timestamp,
};
use limiter_memory::{MemoryStore, Outcome};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

const LENGTH_MS: u64 = 1000;

/// Too long to be kept inline, so it lives in the other table: the one way to a second shard here.
const LONG: &str = "an identity of more than fifteen bytes";

/// A clock whose steps loom orders like everything else.
#[derive(Clone, Debug)]
struct LoomClock(Arc<AtomicU64>);

impl LoomClock {
    fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for LoomClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

struct World {
    store: MemoryStore<LoomClock>,
    clock: LoomClock,
    policy: Policy,
}

impl World {
    fn new(capacity: usize, limit: u64) -> Arc<Self> {
        let clock = LoomClock(Arc::new(AtomicU64::new(5000)));
        let store = MemoryStore::builder()
            .capacity(capacity)
            .clock(clock.clone())
            .hasher(RandomState::with_seeds(1, 2, 3, 4))
            .build()
            .unwrap();
        let policy = Policy::named("raced")
            .scope("loom")
            .limit(limit)
            .first_arrival(Duration::from_millis(LENGTH_MS))
            .build()
            .unwrap();
        Arc::new(Self {
            store,
            clock,
            policy,
        })
    }

    /// The total that was told, or `None` for a denial.
    fn acquire(&self, who: &str) -> Option<u64> {
        match self
            .store
            .acquire_now(&self.policy, who, Cost::ONE)
            .unwrap()
        {
            Outcome::Admitted { total, .. } => Some(total),
            Outcome::Denied { .. } => None,
        }
    }

    /// Whether the store found a place.
    fn finds_place(&self, who: &str) -> bool {
        match self.store.acquire_now(&self.policy, who, Cost::ONE) {
            Ok(outcome) => outcome.is_admitted(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable);
                false
            }
        }
    }

    fn total(&self, who: &str) -> u64 {
        self.store.peek_now(&self.policy, who).unwrap().total
    }
}

fn spawn<T: 'static>(
    world: &Arc<World>,
    work: impl FnOnce(&World) -> T + 'static,
) -> thread::JoinHandle<T> {
    let world = Arc::clone(world);
    thread::spawn(move || work(&world))
}

#[test]
fn of_three_first_arrivals_the_limit_is_admitted_and_each_total_told_once() {
    loom::model(|| {
        let world = World::new(10, 2);
        let others = [0, 1].map(|_| spawn(&world, |world| world.acquire("alice")));
        let mut totals = vec![world.acquire("alice")];
        totals.extend(others.map(|other| other.join().unwrap()));
        totals.sort_unstable();
        assert_eq!(totals, [None, Some(1), Some(2)]);
        assert_eq!(world.store.len(), 1);
    });
}

#[test]
fn acquires_raced_with_the_end_of_the_window_are_charged_to_one_window_each() {
    loom::model(|| {
        let world = World::new(10, 1);
        assert_eq!(world.acquire("alice"), Some(1));
        world.clock.advance(LENGTH_MS);
        let time = spawn(&world, |world| world.clock.advance(1));
        let other = spawn(&world, |world| world.acquire("alice"));
        let mine = world.acquire("alice");
        let other = other.join().unwrap();
        time.join().unwrap();
        // The new window has one unit, for whoever came after the step.
        assert!(mine.is_none() || other.is_none());
        let late = world.acquire("alice");
        let admitted = [mine, other, late].into_iter().flatten().count();
        assert_eq!(admitted, 1);
        assert_eq!(world.store.len(), 1);
    });
}

#[test]
fn removal_raced_with_acquires_takes_no_live_window_and_no_place() {
    loom::model(|| {
        let world = World::new(2, 2);
        assert_eq!(world.acquire("alice"), Some(1));
        assert_eq!(world.acquire("bob"), Some(1));
        world.clock.advance(LENGTH_MS + 1);
        let removal = spawn(&world, |world| world.store.remove_expired(2));
        let other = spawn(&world, |world| world.acquire("alice"));
        let mine = world.acquire("alice");
        let mut totals = [mine, other.join().unwrap()];
        removal.join().unwrap();
        totals.sort_unstable();
        assert_eq!(totals, [Some(1), Some(2)]);
        assert_eq!(world.total("alice"), 2);
        world.store.remove_expired(2);
        assert_eq!(world.store.len(), 1);
    });
}

#[test]
fn of_two_new_budgets_that_race_for_the_last_place_one_finds_it() {
    loom::model(|| {
        let world = World::new(1, 1);
        let other = spawn(&world, |world| world.finds_place(LONG));
        let mine = world.finds_place("alice");
        let other = other.join().unwrap();
        assert!(mine != other);
        assert_eq!(world.store.len(), 1);
        assert_eq!(world.total("alice"), u64::from(mine));
        assert_eq!(world.total(LONG), u64::from(other));
    });
}

#[test]
fn of_two_new_budgets_that_race_for_one_that_is_over_one_gets_its_place() {
    loom::model(|| {
        let world = World::new(1, 1);
        assert!(world.finds_place("over"));
        world.clock.advance(LENGTH_MS + 1);
        let other = spawn(&world, |world| world.finds_place(LONG));
        let mine = world.finds_place("alice");
        let other = other.join().unwrap();
        assert!(mine != other);
        assert_eq!(world.store.len(), 1);
        assert_eq!(world.total("alice"), u64::from(mine));
        assert_eq!(world.total(LONG), u64::from(other));
    });
}

#[test]
fn a_new_budget_raced_with_removal_gets_the_place_of_the_one_that_is_over() {
    // Removal in one shard, arrival in another: no lock is common to both.
    loom::model(|| {
        let world = World::new(1, 1);
        assert!(world.finds_place("over"));
        world.clock.advance(LENGTH_MS + 1);
        let removal = spawn(&world, |world| world.store.remove_expired(1));
        assert!(world.finds_place(LONG));
        removal.join().unwrap();
        assert_eq!(world.store.len(), 1);
    });
}

#[test]
fn two_arrivals_of_one_budget_that_both_look_for_room_take_one_place() {
    loom::model(|| {
        let world = World::new(2, 2);
        assert!(world.finds_place("over") && world.finds_place("over too"));
        world.clock.advance(LENGTH_MS + 1);
        let other = spawn(&world, |world| world.acquire(LONG));
        let mut totals = [world.acquire(LONG), other.join().unwrap()];
        totals.sort_unstable();
        assert_eq!(totals, [Some(1), Some(2)]);
        world.store.remove_expired(2);
        assert_eq!(world.store.len(), 1);
    });
}

fn built(rule: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Policy {
    rule(Policy::named("raced").scope("loom").limit(1))
        .build()
        .unwrap()
}

fn bucket() -> Policy {
    built(|policy| policy.token_bucket(Duration::from_millis(LENGTH_MS), 1))
}

fn refundable() -> Policy {
    built(|policy| {
        policy
            .first_arrival(Duration::from_millis(LENGTH_MS))
            .refundable()
    })
}

impl World {
    /// Asks all of `budgets` for one unit each.
    fn together(&self, budgets: &[Budget], nonce: u8) -> Decision {
        let charges = budgets
            .iter()
            .map(|budget| Charge::new(budget.clone(), Cost::ONE));
        let request = Acquire::all(charges).unwrap();
        let request = request.with_nonce(Nonce::from_bytes([nonce; 16]));
        self.store.decide_now(&request).unwrap()
    }

    fn spent(&self, budget: &Budget) -> u64 {
        self.store.peek_now(budget.policy(), budget).unwrap().total
    }

    /// One in each table that can be charged together.
    fn one_of_each(&self) -> [Budget; 3] {
        [
            Budget::of(&self.policy, "alice"),
            Budget::of(&self.policy, LONG),
            Budget::of(&bucket(), "alice"),
        ]
    }
}

#[test]
fn charges_in_opposite_orders_neither_block_each_other_nor_share_the_last_units() {
    loom::model(|| {
        let world = World::new(10, 1);
        let other = spawn(&world, |world| {
            let mut budgets = world.one_of_each();
            budgets.reverse();
            world.together(&budgets, 1).is_admitted()
        });
        let budgets = world.one_of_each();
        let mine = world.together(&budgets, 2).is_admitted();
        assert!(mine != other.join().unwrap());
        for budget in &budgets {
            assert_eq!(world.spent(budget), 1);
        }
        assert_eq!(world.store.len(), 3);
    });
}

#[test]
fn budgets_that_are_charged_together_meet_those_that_are_charged_alone() {
    loom::model(|| {
        let world = World::new(10, 1);
        let alone = spawn(&world, |world| world.acquire("alice").is_some());
        let budgets = world.one_of_each();
        let together = world.together(&budgets, 1).is_admitted();
        assert!(together != alone.join().unwrap());
        assert_eq!(world.spent(&budgets[0]), 1);
        assert_eq!(world.spent(&budgets[1]), u64::from(together));
        assert_eq!(world.spent(&budgets[2]), u64::from(together));
    });
}

#[test]
fn nobody_sees_one_charge_without_the_others() {
    loom::model(|| {
        let world = World::new(10, 1);
        let other = spawn(&world, |world| {
            let budgets = world.one_of_each();
            let first = world.spent(&budgets[2]);
            (first, world.spent(&budgets[0]))
        });
        assert!(world.together(&world.one_of_each(), 1).is_admitted());
        let (first, then) = other.join().unwrap();
        assert!(
            first <= then,
            "the last was charged, and the first was not yet"
        );
    });
}

#[test]
fn where_two_want_the_last_places_no_part_of_a_decision_stays() {
    loom::model(|| {
        let world = World::new(3, 1);
        let other = spawn(&world, |world| world.finds_place("bob"));
        let request = world
            .one_of_each()
            .map(|budget| Charge::new(budget, Cost::ONE));
        let together = world
            .store
            .decide_now(&Acquire::all(request).unwrap())
            .is_ok();
        let other = other.join().unwrap();
        assert!(together || other);
        assert_eq!(
            world.store.len(),
            3 * usize::from(together) + usize::from(other)
        );
    });
}

#[test]
fn of_two_refunds_of_one_charge_one_is_credited() {
    loom::model(|| {
        let world = World::new(10, 1);
        let budget = Budget::of(&refundable(), "alice");
        let admission = world
            .together(std::slice::from_ref(&budget), 1)
            .admitted()
            .unwrap();
        let receipt = admission.into_receipts().next().unwrap();
        let (window, serial) = (receipt.window(), receipt.serial());
        let twin = Receipt::new(&budget, window, serial, Cost::ONE);
        let other = spawn(&world, move |world| world.store.refund_now(twin).unwrap());
        let mine = world.store.refund_now(receipt).unwrap();
        let both = [mine, other.join().unwrap()];
        assert!(both.contains(&Refunded::Credited { units: 1 }), "{both:?}");
        assert!(both.contains(&Refunded::Repeated), "{both:?}");
        assert_eq!(world.spent(&budget), 0);
    });
}

#[test]
fn a_refund_raced_with_an_acquire_gives_its_units_to_nobody_or_to_it() {
    loom::model(|| {
        let world = World::new(10, 1);
        let budget = Budget::of(&refundable(), "alice");
        let admission = world
            .together(std::slice::from_ref(&budget), 1)
            .admitted()
            .unwrap();
        let receipt = admission.into_receipts().next().unwrap();
        let other = spawn(&world, move |world| {
            world.store.refund_now(receipt).unwrap()
        });
        let admitted = world
            .together(std::slice::from_ref(&budget), 2)
            .is_admitted();
        assert_eq!(other.join().unwrap(), Refunded::Credited { units: 1 });
        assert_eq!(world.spent(&budget), u64::from(admitted));
    });
}

#[test]
fn one_request_that_is_sent_twice_at_once_charges_once() {
    loom::model(|| {
        let world = World::new(10, 5);
        let ask = |world: &World| {
            let request = Acquire::of(&world.policy, "alice", Cost::ONE);
            let request = request.with_id(RequestId::new("a").unwrap());
            let decision = world.store.decide_now(&request).unwrap();
            decision.admitted().unwrap().is_repeat()
        };
        let other = spawn(&world, ask);
        let mine = ask(&world);
        assert!(mine != other.join().unwrap());
        assert_eq!(world.total("alice"), 1);
    });
}
