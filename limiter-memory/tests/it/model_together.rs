//! Decisions on any budgets, held against the pure rules and a plain map.

use std::collections::HashMap;

use limiter_core::rule::{self, State};
use limiter_core::{
    Acquire, Admission, Budget, BudgetKey, Charge, Clock, Cost, Decision, ManualClock, Nonce,
    Policy, Receipt, Refunded,
};
use limiter_memory::MemoryStore;
use proptest::prelude::*;

use crate::{advance, cost, manual_clock};

const LONG: &str = "an identity of more than fifteen bytes";

fn policies() -> Vec<Policy> {
    let second = std::time::Duration::from_secs(1);
    let named = || Policy::named("tested").scope("model/together").limit(4);
    [
        named().first_arrival(second),
        named().first_arrival(second / 4),
        named().first_arrival(second).refundable(),
        named().aligned(second),
        named().rolling(second).refundable(),
        named().token_bucket(second, 3).refundable(),
        named().in_flight(second),
    ]
    .map(|built| built.build().unwrap())
    .into()
}

#[derive(Clone, Debug)]
enum Step {
    /// Which budgets, as bits over policies and identities, and how many units.
    Acquire(u32, u64),
    Refund(usize),
    Reset(usize),
    Advance(u64),
    Remove(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let few = prop::collection::vec(0..21_u32, 1..5);
    let bits = few.prop_map(|bits| bits.into_iter().fold(0, |all, bit| all | 1 << bit));
    prop_oneof![
        6 => (bits, 1..4_u64).prop_map(|(bits, units)| Step::Acquire(bits, units)),
        2 => any::<prop::sample::Index>().prop_map(|at| Step::Refund(at.index(50))),
        1 => (0..21_usize).prop_map(Step::Reset),
        4 => prop_oneof![0..50_u64, 0..2500_u64].prop_map(Step::Advance),
        1 => (0..4_usize).prop_map(Step::Remove),
    ]
}

struct World {
    clock: ManualClock,
    store: MemoryStore<ManualClock>,
    states: HashMap<BudgetKey, State>,
    budgets: Vec<Budget>,
    /// As the store gave them, and as the model did.
    receipts: Vec<(Receipt, Receipt)>,
    nonces: u128,
}

impl World {
    fn new() -> Self {
        let clock = manual_clock();
        let builder = MemoryStore::builder().shards(2).clock(clock.clone());
        let identities = ["alice", "bob", LONG];
        let of_policy = |policy: Policy| identities.map(|who| Budget::of(&policy, who));
        Self {
            clock,
            store: builder.build().unwrap(),
            states: HashMap::new(),
            budgets: policies().into_iter().flat_map(of_policy).collect(),
            receipts: Vec::new(),
            nonces: 0,
        }
    }

    fn acquire(&mut self, bits: u32, units: u64) {
        let budgets = self.budgets.iter().enumerate();
        let asked = budgets.filter(|(at, _)| bits & 1 << at != 0);
        let asked = asked.map(|(_, budget)| Charge::new(budget.clone(), cost(units)));
        self.nonces += 1;
        let nonce = Nonce::from_bytes(self.nonces.to_be_bytes());
        let request = Acquire::all(asked).unwrap().with_nonce(nonce);
        let charges = request.charges().iter();
        let keys: Vec<BudgetKey> = charges.map(|charge| charge.budget().key()).collect();
        let stored = keys.iter().map(|key| self.states.get(key).cloned());
        let expected = rule::decide(&request, stored, self.clock.now()).unwrap();
        match (self.store.decide_now(&request).unwrap(), expected) {
            (Decision::Admitted(told), rule::Step::Admit { admission, states }) => {
                assert_eq!(format!("{told:?}"), format!("{admission:?}"));
                self.states.extend(keys.into_iter().zip(states));
                let both = told
                    .into_receipts()
                    .zip(Admission::into_receipts(admission));
                self.receipts.extend(both);
            }
            (Decision::Denied(told), rule::Step::Deny(denial)) => {
                assert_eq!(format!("{told:?}"), format!("{denial:?}"));
            }
            (told, expected) => panic!("{told:?}, and {expected:?} was expected"),
        }
    }

    fn refund(&mut self, which: usize) {
        if which < self.receipts.len() {
            let (receipt, expected) = self.receipts.swap_remove(which);
            let now = self.clock.now();
            let expected = match self.states.get_mut(&expected.key()) {
                Some(state) => state.refund(now, &expected).unwrap(),
                None => Refunded::Late,
            };
            assert_eq!(self.store.refund_now(receipt).unwrap(), expected);
        }
    }

    fn reset(&mut self, which: usize) {
        let budget = &self.budgets[which];
        self.store.reset_now(budget);
        self.states.remove(&budget.key());
    }

    fn looks_as_it_should(&self) {
        for budget in &self.budgets {
            let stored = self.states.get(&budget.key());
            let expected = State::peek(stored, self.clock.now(), budget).unwrap();
            let seen = self.store.peek_now(budget.policy(), budget).unwrap();
            assert_eq!(seen, expected, "{budget:?}");
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_done_the_store_agrees_with_the_rules_and_no_place_is_lost(
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::Acquire(bits, units) => world.acquire(bits, units),
                Step::Refund(which) => world.refund(which),
                Step::Reset(which) => world.reset(which),
                Step::Advance(ms) => advance(&world.clock, ms),
                Step::Remove(most) => {
                    world.store.remove_expired(most);
                }
            }
            prop_assert!(world.store.len() <= world.states.len());
        }
        world.looks_as_it_should();
        advance(&world.clock, 100_000);
        let left = world.store.len();
        prop_assert_eq!(world.store.remove_expired(usize::MAX), left);
        prop_assert!(world.store.is_empty());
        for policy in policies().into_iter().filter(|policy| !policy.needs_nonce()) {
            prop_assert!(world.store.acquire_now(&policy, "alice", Cost::ONE).unwrap().is_admitted());
        }
    }
}
