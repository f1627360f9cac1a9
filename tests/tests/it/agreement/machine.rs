//! The pure state machine of `limiter-core`, and time that moves when it is told to.

use std::collections::HashMap;

use limiter_core::rule::first_arrival::{Judgement, Window, judge};
use limiter_core::{BudgetKey, TimeRule, Timestamp, Wait};

use super::answer::Answer;
use super::scenario::Request;

/// How near to a deadline time may stop, where another clock runs on by itself.
const MARGIN_MS: u64 = 20_000;

#[derive(Debug)]
pub(super) struct Machine {
    now: Timestamp,
    windows: HashMap<BudgetKey, Window>,
}

impl Machine {
    pub(super) fn at(now: Timestamp) -> Self {
        let windows = HashMap::new();
        Self { now, windows }
    }

    pub(super) fn pass(&mut self, ms: u64) {
        self.now = self.now.plus_millis(ms);
    }

    /// `ms`, or as much more as it takes to end far from every deadline.
    pub(super) fn clear_of_deadlines(&self, mut ms: u64) -> u64 {
        while self.windows.values().any(|window| {
            let then = self.now.plus_millis(ms);
            window.contains(then) && window.deadline.millis_since(then) <= MARGIN_MS
        }) {
            ms += MARGIN_MS + 1;
        }
        ms
    }

    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        match request {
            Request::Peek(budget) => {
                let limit = budget.policy().limit();
                let stored = self.windows.get(&budget.key()).copied();
                let open = stored.filter(|window| window.contains(self.now));
                Answer::Seen {
                    total: open.map_or(0, |window| window.total),
                    remaining: open.map_or(limit.get(), |window| window.remaining(limit)),
                    resets_in: open.map(|window| self.left_ms(window)),
                }
            }
            Request::Acquire(request) => {
                let charge = &request.charges()[0];
                let policy = charge.budget().policy();
                let (limit, key) = (policy.limit(), charge.budget().key());
                let TimeRule::FirstArrival { length } = policy.rule() else {
                    panic!("a first-arrival window");
                };
                let stored = self.windows.get(&key).copied();
                match judge(stored, self.now, limit, length, charge.cost()) {
                    Judgement::Admit(window) => {
                        self.windows.insert(key, window);
                        Answer::Admitted {
                            total: window.total,
                            remaining: window.remaining(limit),
                            resets_in: self.left_ms(window),
                        }
                    }
                    Judgement::Deny { remaining, wait } => Answer::Denied {
                        remaining,
                        wait: match wait {
                            Wait::For(wait) => Some(u64::try_from(wait.as_millis()).unwrap()),
                            Wait::Never => None,
                        },
                    },
                }
            }
        }
    }

    fn left_ms(&self, window: Window) -> u64 {
        u64::try_from(window.resets_in(self.now).as_millis()).unwrap()
    }
}
