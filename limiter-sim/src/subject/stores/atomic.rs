//! One script, one decision: the Redis store of this project, and what callers make of its errors.

use std::sync::Arc;

use limiter_core::{BudgetStore, Cost, FailureMode, Limiter};
use limiter_redis::RedisStore;

use crate::process::{Endpoint, Env, Outcome, SimConnection};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::subject::store::{request, told};
use crate::subject::{Client, StoreSubject, Uses};

/// `limiter-redis`.
pub(crate) fn atomic_window() -> StoreSubject {
    let about = "limiter-redis: compare, create with deadline and charge in one script";
    StoreSubject::new("atomic-window", about, store)
        .using(Uses::SCRIPTS)
        .charging(charges)
}

/// `limiter-redis`, asked once more after an uncertain answer.
pub(crate) fn atomic_window_retry() -> Client {
    let about = "limiter-redis, asked once more when it is uncertain whether it had charged";
    Client::new("atomic-window-retry", about, |env| async move {
        let store = store(&env);
        let request = request(env.parameters());
        match store.acquire(&request).await {
            Err(error) if error.may_have_spent() => told(store.acquire(&request).await),
            decided => told(decided),
        }
    })
    .broken("charges twice where the first charge was applied and its reply was lost")
    .using(Uses::SCRIPTS)
    .charging(charges)
}

/// `limiter-redis`, with errors refused.
pub(crate) fn fail_closed() -> Client {
    let about = "limiter-redis; an error refuses the work";
    Client::new("fail-closed", about, |env| async move {
        limited(&env, FailureMode::Refuse).await
    })
    .using(Uses::SCRIPTS)
    .charging(charges)
}

/// `limiter-redis`, with errors taken for an empty counter.
pub(crate) fn fail_open() -> Client {
    let about = "limiter-redis; an error admits the work";
    Client::new("fail-open", about, |env| async move {
        limited(&env, FailureMode::Admit).await
    })
    .broken("takes an error for an empty counter: every error told is one admission more")
    .using(Uses::SCRIPTS)
    .charging(charges)
}

pub(super) fn store(env: &Env) -> RedisStore<SimConnection> {
    RedisStore::new(env.connect(Endpoint::Primary))
}

async fn limited(env: &Env, mode: FailureMode) -> Outcome {
    let request = request(env.parameters());
    let policy = request.charges()[0].budget().policy().clone();
    let store: Arc<dyn BudgetStore> = Arc::new(store(env));
    let limiter = Limiter::new(store, [policy])
        .expect("one policy")
        .on_failure(mode);
    let cost = Cost::new(env.parameters().cost).expect("the parameters were checked");
    told(limiter.acquire("budget", cost).await)
}

/// The script replies with 1 first where it admitted, and it charges where it admits.
pub(super) fn charges(request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
    let admitted = match reply {
        Reply::Array(fields) => fields.first() == Some(&Reply::Int(1)),
        _ => false,
    };
    let script = request.is("EVALSHA") || request.is("EVAL");
    if script && admitted {
        parameters.cost.cast_signed()
    } else {
        0
    }
}
