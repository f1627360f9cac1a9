//! Each state machine against an oracle that keeps the whole history of admissions and knows only
//! the promise of the rule. The oracles share no code with the rules; they find waits by trying.

use limiter_core::rule::{State, Verdict};
use limiter_core::{Budget, Charge, Nonce, Policy, Receipt, Refunded, Timestamp, Wait};
use proptest::prelude::*;

use crate::{cost, length, ms, named};

/// What an oracle keeps of one admission.
#[derive(Clone, Copy, Debug)]
struct Admitted {
    at: u64,
    units: u64,
    /// What was given back of it, and when.
    refund: Option<(u64, u64)>,
}

impl Admitted {
    fn kept(self) -> u64 {
        self.units - self.refund.map_or(0, |(_, units)| units)
    }
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    FirstArrival,
    Aligned,
    Rolling,
    InFlight,
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    limit: u64,
    length: u64,
}

/// Which admissions count at `at`, by the promise of `rule`.
fn counting(rule: Rule, length: u64, history: &[Admitted], at: u64) -> Vec<usize> {
    let mut opener = None;
    for admitted in history {
        if opener.is_none_or(|opener| admitted.at > opener + length) {
            opener = Some(admitted.at);
        }
    }
    let counts = |admitted: &Admitted| match rule {
        Rule::FirstArrival => {
            opener.is_some_and(|opener| opener <= admitted.at && at <= opener + length)
        }
        Rule::Aligned => admitted.at / length == at / length,
        Rule::Rolling | Rule::InFlight => at - admitted.at <= length,
    };
    let places = 0..history.len();
    places.filter(|place| counts(&history[*place])).collect()
}

fn spent(rule: Rule, numbers: Numbers, history: &[Admitted], at: u64) -> u64 {
    let counting = counting(rule, numbers.length, history, at);
    counting
        .into_iter()
        .map(|place| history[place].kept())
        .sum()
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Ask(u64),
    Refund(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => prop_oneof![0..4_u64, 0..60_u64].prop_map(Step::Wait),
        4 => (1..6_u64).prop_map(Step::Ask),
        1 => (0..6_usize).prop_map(Step::Refund),
    ]
}

/// A state machine and the receipts it gave, driven step by step.
struct Driven {
    budget: Budget,
    stored: Option<State>,
    receipts: Vec<Option<Receipt>>,
    now: u64,
}

impl Driven {
    fn new(policy: &Policy) -> Self {
        Self {
            budget: Budget::of(policy, "alice"),
            stored: None,
            receipts: Vec::new(),
            now: 1_000,
        }
    }

    fn now(&self) -> Timestamp {
        ms(self.now)
    }

    /// What a store may have done meanwhile: written bytes and read them, dropped what is over.
    fn passed_through_a_store(&mut self) {
        let policy = self.budget.policy();
        let over = |state: &State| state.deadline(policy) < ms(self.now);
        let kept = self.stored.take().filter(|state| !over(state));
        self.stored = kept.map(|state| {
            let read = State::from_bytes(&state.to_bytes(), &self.budget).unwrap();
            assert_eq!(read, state);
            read
        });
    }

    fn ask(&mut self, units: u64) -> Verdict {
        self.passed_through_a_store();
        let charge = Charge::new(self.budget.clone(), cost(units));
        let count = self.receipts.len() as u128 + 1;
        let nonce = Some(Nonce::from_bytes(count.to_be_bytes()));
        let verdict = State::judge(self.stored.as_ref(), self.now(), &charge, nonce).unwrap();
        if verdict == Verdict::Admit {
            let stored = self.stored.take();
            let (state, grant) = State::charge(stored, self.now(), &charge, nonce).unwrap();
            self.stored = Some(state);
            self.receipts.push(grant.receipt);
        }
        verdict
    }

    fn refund(&mut self, which: usize) -> Option<Refunded> {
        self.passed_through_a_store();
        let receipt = self.receipts.get_mut(which)?.take()?;
        let Some(state) = &mut self.stored else {
            return Some(Refunded::Late);
        };
        Some(state.refund(ms(self.now), &receipt).unwrap())
    }
}

fn hold_against_history(rule: Rule, numbers: Numbers, policy: &Policy, steps: &[Step]) {
    let mut driven = Driven::new(policy);
    let mut history: Vec<Admitted> = Vec::new();
    for step in steps {
        match *step {
            Step::Wait(wait) => driven.now += wait,
            Step::Ask(units) => {
                let at = driven.now;
                let fits = |at| spent(rule, numbers, &history, at) + units <= numbers.limit;
                let expected = if fits(at) {
                    Verdict::Admit
                } else {
                    let remaining = numbers
                        .limit
                        .saturating_sub(spent(rule, numbers, &history, at));
                    let wait = (1..=numbers.length + 1).find(|wait| fits(at + wait));
                    let wait = wait.map_or(Wait::Never, |wait| Wait::For(length(wait)));
                    Verdict::Deny { remaining, wait }
                };
                assert_eq!(driven.ask(units), expected, "at {at}, after {history:?}");
                if expected == Verdict::Admit {
                    let refund = None;
                    history.push(Admitted { at, units, refund });
                }
            }
            Step::Refund(which) => {
                let at = driven.now;
                let counted = counting(rule, numbers.length, &history, at).contains(&which);
                match driven.refund(which) {
                    Some(Refunded::Credited { units }) => {
                        assert!(counted, "at {at}, after {history:?}");
                        assert_eq!(units, history[which].units);
                        history[which].refund = Some((at, units));
                    }
                    Some(other) => {
                        assert_eq!(other, Refunded::Late);
                        assert!(!counted, "at {at}, after {history:?}");
                    }
                    None => {}
                }
            }
        }
    }
}

fn policies(rule: Rule, numbers: Numbers) -> Vec<Policy> {
    let (built, length) = (named("oracle", numbers.limit), length(numbers.length));
    let built = match rule {
        Rule::FirstArrival => built.first_arrival(length),
        Rule::Aligned => built.aligned(length),
        Rule::Rolling => built.rolling(length),
        Rule::InFlight => built.in_flight(length),
    };
    let refundable = built.clone().refundable();
    vec![built.build().unwrap(), refundable.build().unwrap()]
}

proptest! {
    #[test]
    fn every_rule_but_the_bucket_answers_as_its_promise_says_of_the_history(
        limit in 0..12_u64,
        length in 1..50_u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let numbers = Numbers { limit, length };
        for rule in [Rule::FirstArrival, Rule::Aligned, Rule::Rolling, Rule::InFlight] {
            for policy in policies(rule, numbers) {
                hold_against_history(rule, numbers, &policy, &steps);
            }
        }
    }

    #[test]
    fn a_bucket_answers_as_a_level_that_rises_every_millisecond(
        limit in 1..12_u64,
        burst in 1..12_u64,
        length in 1..50_u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        hold_against_level(limit, burst.min(limit), length, &steps);
    }

    #[test]
    fn with_refunds_a_bucket_still_lets_no_more_through_than_burst_and_refill(
        limit in 1..12_u64,
        burst in 1..12_u64,
        length in 1..50_u64,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        hold_against_every_interval(limit, burst.min(limit), length, &steps);
    }

    #[test]
    fn no_rule_gives_credit_for_time_that_steps_back(
        limit in 1..12_u64,
        length in 1..50_u64,
        steps in prop::collection::vec(step(), 1..40),
        back in 1..200_u64,
    ) {
        for rule in [Rule::FirstArrival, Rule::Aligned, Rule::Rolling, Rule::InFlight] {
            for policy in policies(rule, Numbers { limit, length }) {
                never_more_by_stepping_back(&policy, &steps, back);
            }
        }
        never_more_by_stepping_back(&bucket(limit, limit, length), &steps, back);
    }
}

fn bucket(limit: u64, burst: u64, length_ms: u64) -> Policy {
    let built = named("oracle", limit).token_bucket(length(length_ms), burst);
    built.refundable().build().unwrap()
}

/// The level is counted in parts of a unit, `length` parts each: every millisecond adds `limit`.
fn hold_against_level(limit: u64, burst: u64, length_ms: u64, steps: &[Step]) {
    let mut driven = Driven::new(&bucket(limit, burst, length_ms));
    let full = burst * length_ms;
    let mut level = full;
    let rise = |level: u64, by: u64| (0..by).fold(level, |level, _| (level + limit).min(full));
    for step in steps {
        match *step {
            Step::Wait(wait) => {
                driven.now += wait;
                level = rise(level, wait);
            }
            Step::Ask(units) => {
                let fits = |level| level >= units * length_ms;
                let wait = (1..=length_ms).find(|wait| fits(rise(level, *wait)));
                let expected = match wait {
                    _ if fits(level) => Verdict::Admit,
                    wait => Verdict::Deny {
                        remaining: level / length_ms,
                        wait: wait.map_or(Wait::Never, |wait| Wait::For(length(wait))),
                    },
                };
                assert_eq!(driven.ask(units), expected, "at {}", driven.now);
                if expected == Verdict::Admit {
                    level -= units * length_ms;
                }
            }
            Step::Refund(_) => {}
        }
    }
}

/// Units admitted without those refunded, each at its own instant, in every interval.
fn hold_against_every_interval(limit: u64, burst: u64, length_ms: u64, steps: &[Step]) {
    let mut driven = Driven::new(&bucket(limit, burst, length_ms));
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for step in steps {
        match *step {
            Step::Wait(wait) => driven.now += wait,
            Step::Ask(units) => {
                if driven.ask(units) == Verdict::Admit {
                    changes.push((driven.now, units as i64));
                }
            }
            Step::Refund(which) => {
                let units = driven.refund(which).map_or(0, Refunded::units);
                changes.push((driven.now, -(units as i64)));
            }
        }
    }
    for (first, (from, _)) in changes.iter().enumerate() {
        let mut sum = 0;
        for (until, units) in &changes[first..] {
            sum += units;
            let promised = (burst * length_ms + limit * (until - from)) / length_ms;
            assert!(
                sum <= promised as i64,
                "{sum} in {from} to {until}: {changes:?}"
            );
        }
    }
}

fn never_more_by_stepping_back(policy: &Policy, steps: &[Step], back: u64) {
    let mut driven = Driven::new(policy);
    for step in steps {
        match *step {
            Step::Wait(wait) => driven.now += wait,
            Step::Ask(units) => {
                driven.ask(units);
            }
            Step::Refund(which) => {
                driven.refund(which);
            }
        }
        let remaining = |now| {
            let seen = State::peek(driven.stored.as_ref(), ms(now), &driven.budget);
            seen.unwrap().remaining
        };
        assert!(remaining(driven.now - back) <= remaining(driven.now));
    }
}
