//! What can stand between callers and a Redis store that fails: a fallback, a circuit, a deadline.
//! Refusing and admitting are [`fail_closed`](super::fail_closed) and [`fail_open`](super::fail_open).

use std::sync::Arc;
use std::time::Duration;

use limiter_core::{BudgetStore, CircuitStore, Cost, DeadlineStore, FailureMode, Limit, Limiter};

use super::in_process;
use super::rules::{charges, store};
use crate::process::{Attempt, Env, Program};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::subject::store::{request, told};
use crate::subject::{StoreSubject, Subject, Uses};

/// Scripts on a server, and the clock of the process.
const USES: Uses = Uses {
    clock: true,
    ..Uses::SCRIPTS
};

/// `limiter-redis` behind a circuit.
pub(crate) fn circuit() -> StoreSubject {
    let about =
        "limiter-redis behind a circuit: after one failure it is asked again in half a window";
    StoreSubject::new("circuit", about, |env| {
        let interval = Duration::from_millis(env.parameters().window_ms.div_ceil(2));
        CircuitStore::new(store(env), env.clock(), 1, interval).expect("one failure, at least 1 ms")
    })
    .using(USES)
    .keeping_state()
    .charging(charges)
}

/// `limiter-redis` with a deadline.
pub(crate) fn deadline() -> StoreSubject {
    let about = "limiter-redis with a deadline of half a window for every call";
    StoreSubject::new("deadline", about, |env| {
        let limit = Duration::from_millis(env.parameters().window_ms.div_ceil(2));
        DeadlineStore::new(store(env), env.clock(), limit)
    })
    .using(USES)
    .charging(charges)
}

/// `limiter-redis`, with the memory of each process where it cannot decide.
pub(crate) fn fallback() -> Fallback {
    Fallback
}

/// The share that each process has while the store is away: one acquisition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fallback;

impl Subject for Fallback {
    fn name(&self) -> &str {
        "failure-fallback"
    }

    fn about(&self) -> &str {
        "limiter-redis; an error asks the memory of the process, which holds a share of one acquisition"
    }

    fn flaw(&self) -> Option<&str> {
        Some("admits each process its share beside the limit while the store is away")
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        let parameters = env.parameters();
        let cost = Cost::new(parameters.cost).expect("the parameters were checked");
        let policy = request(parameters).charges()[0].budget().policy().clone();
        let fallback = FailureMode::Fallback {
            store: Arc::new(in_process::store(env)),
            share: Limit::new(cost.get()).expect("a cost is a limit"),
        };
        let store: Arc<dyn BudgetStore> = Arc::new(store(env));
        let limiter = Limiter::new(store, [policy]).expect("one policy");
        Box::new(Worker {
            limiter: Arc::new(limiter.on_failure(fallback)),
            cost,
        })
    }

    fn keeps_state(&self) -> bool {
        true
    }

    fn uses(&self) -> Uses {
        USES
    }

    fn charges(&self, request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
        charges(request, reply, parameters)
    }
}

struct Worker {
    limiter: Arc<Limiter<Arc<dyn BudgetStore>>>,
    cost: Cost,
}

impl Program for Worker {
    fn attempt(&mut self, _client: usize, _attempt: u32) -> Attempt {
        let (limiter, cost) = (Arc::clone(&self.limiter), self.cost);
        Box::pin(async move { told(limiter.acquire("budget", cost).await) })
    }
}
