//! Random sequences.

use std::ops::RangeInclusive;
use std::time::Duration;

use limiter_core::{Acquire, Budget, Cost, Identity, Length, Limit, MAX_UNITS, Policy};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Some budgets, and what happens to them.
#[derive(Clone, Debug)]
pub(super) struct Scenario {
    pub(super) budgets: Vec<Budget>,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Time passes.
    Pass { ms: u64 },
    /// Somebody asks.
    Ask(Ask),
}

/// A request to one of the budgets, with a limit of its own: limits may change at any time.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    budget: prop::sample::Index,
    limit: u64,
    /// `None` only looks.
    cost: Option<u64>,
}

/// What is asked of a store.
#[derive(Clone, Debug)]
pub(super) enum Request {
    Acquire(Acquire),
    Peek(Budget),
}

impl Ask {
    pub(super) fn of(&self, scenario: &Scenario) -> Request {
        let budget = self.budget.get(&scenario.budgets);
        let limit = Limit::new(self.limit).unwrap();
        let budget = budget.under(
            &budget
                .policy()
                .with_limit(limit)
                .expect("a window takes every limit"),
        );
        match self.cost {
            Some(cost) => Request::Acquire(Acquire::one(budget, Cost::new(cost).unwrap())),
            None => Request::Peek(budget),
        }
    }
}

/// Sequences with windows of these lengths in milliseconds.
pub(super) fn scenarios(lengths: RangeInclusive<u64>) -> impl Strategy<Value = Scenario> {
    let budgets = vec(budget(lengths.clone()), 1..4);
    let steps = vec(step(*lengths.start()), 1..40);
    (budgets, steps).prop_map(|(budgets, steps)| Scenario { budgets, steps })
}

fn budget(lengths: RangeInclusive<u64>) -> impl Strategy<Value = Budget> {
    let (shortest, longest) = (*lengths.start(), *lengths.end());
    let length = prop_oneof![
        4 => shortest..=shortest * 4,
        1 => lengths,
        1 => Just(shortest),
        1 => Just(longest),
    ];
    let identity = option::of(vec(any::<u8>(), 0..40));
    ("\\PC{1,12}", "\\PC{1,12}", length, identity).prop_map(|(unit, scope, ms, identity)| {
        let policy = Policy::named("any").unit(unit).scope(scope).limit(1);
        let policy = policy
            .first_arrival(Duration::from_millis(ms))
            .build()
            .unwrap();
        match identity {
            Some(bytes) => Budget::of(&policy, Identity::from(bytes)),
            None => Budget::shared(&policy),
        }
    })
}

fn step(shortest: u64) -> impl Strategy<Value = Step> {
    let pass = prop_oneof![
        6 => 0..=shortest,
        2 => 0..=shortest * 6,
        1 => 0..=Length::MAX_MS + 2,
    ];
    let cost = option::weighted(0.8, units(1));
    let ask =
        (any::<prop::sample::Index>(), units(0), cost).prop_map(|(budget, limit, cost)| Ask {
            budget,
            limit,
            cost,
        });
    prop_oneof![
        1 => pass.prop_map(|ms| Step::Pass { ms }),
        4 => ask.prop_map(Step::Ask),
    ]
}

/// Mostly numbers so small that they meet; also the largest ones, and any.
fn units(least: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => least..=6,
        1 => Just(least),
        1 => Just(MAX_UNITS),
        1 => MAX_UNITS - 6..=MAX_UNITS,
        1 => least..=MAX_UNITS,
    ]
}
