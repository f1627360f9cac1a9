//! The store and the pure state machine agree on every sequence of calls.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::time::Duration;

use limiter_core::rule::first_arrival::{Judgement, Window, judge};
use limiter_core::{
    Budget, BudgetKey, Clock, Cost, Length, Limit, MAX_UNITS, ManualClock, Policy, Snapshot,
    Timestamp, Wait,
};
use limiter_memory::{MemoryStore, Outcome};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Acquire(Call, u64),
    Peek(Call),
    Advance(u64),
    SetBack(u64),
    Remove(usize),
}

/// Which of the sequence's lengths and identities, and under which limit.
#[derive(Clone, Debug)]
struct Call {
    length: usize,
    who: usize,
    limit: u64,
}

fn units() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..8_u64, 1 => Just(MAX_UNITS), 1 => 0..=MAX_UNITS]
}

fn length_ms() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), 2..50_u64, Just(Length::MAX_MS), 1..=Length::MAX_MS]
}

fn identity() -> impl Strategy<Value = Option<Vec<u8>>> {
    let bytes = |size| prop::collection::vec(any::<u8>(), size).prop_map(Some);
    prop_oneof![1 => Just(None), 1 => Just(Some(vec![])), 3 => bytes(1..=17), 1 => bytes(18..=200)]
}

fn call() -> impl Strategy<Value = Call> {
    (0..3_usize, 0..5_usize, units()).prop_map(|(length, who, limit)| Call { length, who, limit })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (call(), units()).prop_map(|(call, cost)| Step::Acquire(call, cost.max(1))),
        2 => call().prop_map(Step::Peek),
        3 => prop_oneof![0..60_u64, Just(Length::MAX_MS)].prop_map(Step::Advance),
        1 => (0..60_u64).prop_map(Step::SetBack),
        1 => (0..4_usize).prop_map(Step::Remove),
    ]
}

/// Every window that ever was, never removed, and the latest instant that a call saw.
#[derive(Default)]
struct Model {
    windows: HashMap<BudgetKey, Window>,
    now: Timestamp,
}

impl Model {
    fn acquire(&mut self, budget: &Budget, cost: Cost, shown: Timestamp) -> Outcome {
        self.now = self.now.max(shown);
        let behind = Duration::from_millis(self.now.millis_since(shown));
        let (key, policy) = (budget.key(), budget.policy());
        let (limit, length) = (policy.limit(), policy.rule().length());
        let stored = self.windows.get(&key).copied();
        match judge(stored, self.now, limit, length, cost) {
            Judgement::Admit(window) => {
                self.windows.insert(key, window);
                Outcome::Admitted {
                    total: window.total,
                    remaining: window.remaining(limit),
                    resets_in: window.resets_in(self.now) + behind,
                }
            }
            Judgement::Deny { remaining, wait } => Outcome::Denied {
                remaining,
                wait: match wait {
                    Wait::For(wait) => Wait::For(wait + behind),
                    Wait::Never => Wait::Never,
                },
            },
        }
    }

    fn peek(&mut self, budget: &Budget, shown: Timestamp) -> Snapshot {
        self.now = self.now.max(shown);
        let behind = Duration::from_millis(self.now.millis_since(shown));
        let limit = budget.policy().limit();
        let window = self.windows.get(&budget.key());
        let open = window.filter(|window| window.contains(self.now));
        Snapshot {
            total: open.map_or(0, |window| window.total),
            remaining: open.map_or(limit.get(), |window| window.remaining(limit)),
            resets_in: open.map(|window| window.resets_in(self.now) + behind),
        }
    }
}

fn check<S: BuildHasher + Send + Sync>(
    hasher: S,
    lengths: &[u64],
    identities: &[Option<Vec<u8>>],
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let clock = crate::manual_clock();
    let builder = MemoryStore::builder().shards(2).clock(clock.clone());
    let store = builder.hasher(hasher).build().unwrap();
    let mut model = Model::default();
    let policies: Vec<Policy> = lengths
        .iter()
        .map(|length_ms| crate::policy("model", 0, *length_ms))
        .collect();
    let budget = |call: &Call| {
        let policy = policies[call.length]
            .with_limit(Limit::new(call.limit).unwrap())
            .unwrap();
        match &identities[call.who] {
            Some(identity) => Budget::of(&policy, identity.clone()),
            None => Budget::shared(&policy),
        }
    };
    for step in steps {
        let shown = clock.now();
        match step {
            Step::Acquire(call, units) => {
                let (budget, cost) = (budget(call), crate::cost(*units));
                let outcome = store.acquire_now(budget.policy(), &budget, cost).unwrap();
                prop_assert_eq!(outcome, model.acquire(&budget, cost, shown));
            }
            Step::Peek(call) => {
                let budget = budget(call);
                let snapshot = store.peek_now(budget.policy(), &budget).unwrap();
                prop_assert_eq!(snapshot, model.peek(&budget, shown));
            }
            Step::Advance(ms) => crate::advance(&clock, *ms),
            Step::SetBack(ms) => crate::set_back(&clock, *ms),
            Step::Remove(max) => {
                model.now = model.now.max(shown);
                store.remove_expired(*max);
            }
        }
        prop_assert!(store.len() <= model.windows.len());
    }
    drained(&store, &clock)
}

/// However it was used, nothing is left for ever: no entry without a record.
fn drained<S: BuildHasher + Send + Sync>(
    store: &MemoryStore<ManualClock, S>,
    clock: &ManualClock,
) -> Result<(), TestCaseError> {
    // Past every deadline, also of windows opened before the clock was set back.
    crate::advance(clock, 2 * Length::MAX_MS);
    let left = store.len();
    prop_assert_eq!(store.remove_expired(usize::MAX), left);
    prop_assert!(store.is_empty());
    Ok(())
}

/// The worst hasher there is: everything meets everything.
#[derive(Clone, Default)]
struct Constant;

impl Hasher for Constant {
    fn finish(&self) -> u64 {
        42
    }

    fn write(&mut self, _bytes: &[u8]) {}
}

proptest! {
    #[test]
    fn the_store_agrees_with_the_pure_state_machine(
        lengths in prop::collection::vec(length_ms(), 3),
        identities in prop::collection::vec(identity(), 5),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        check(RandomState::new(), &lengths, &identities, &steps)?;
    }

    #[test]
    fn answers_do_not_depend_on_the_hasher(
        lengths in prop::collection::vec(length_ms(), 3),
        identities in prop::collection::vec(identity(), 5),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let worst = BuildHasherDefault::<Constant>::default();
        check(worst, &lengths, &identities, &steps)?;
    }
}
