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
use limiter_core::{Clock, Cost, ErrorKind, Policy, Timestamp};
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
