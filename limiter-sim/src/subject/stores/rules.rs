//! The other time rules, on the Redis store of this project: one script each time, and each judged by
//! what its own rule promises.

use std::time::Duration;

use limiter_core::{
    Acquire, Admission, Budget, BudgetStore, Capabilities, Charge, Cost, Decision, Error, Nonce,
    Policy, PolicyBuilder, RequestId, RuleSet,
};
use limiter_redis::RedisStore;

use crate::judge::Promise;
use crate::process::{Endpoint, Env, Outcome, SimConnection};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::subject::store::told;
use crate::subject::{Client, Uses};

/// A denial may be told between a refund and the moment at which its caller learns of it.
const GIVES_BACK: &str = "what it gives back is no call of its own";

/// Windows cut by the clock.
pub(crate) fn aligned() -> Client {
    let about = "limiter-redis with windows that are cut at the multiples of their length";
    rule("aligned", about, |built, length, _| built.aligned(length)).promising(|parameters| {
        Promise::Aligned {
            limit: parameters.limit,
            length_ms: parameters.window_ms,
        }
    })
}

/// At most the limit in every interval.
pub(crate) fn rolling() -> Client {
    let about = "limiter-redis with at most the limit in every interval of the length";
    rule("rolling", about, ROLLING).promising(rolling_promise)
}

fn rolling_promise(parameters: &Parameters) -> Promise {
    Promise::Rolling {
        limit: parameters.limit,
        length_ms: parameters.window_ms,
    }
}

/// Refilled evenly, by the server's clock.
pub(crate) fn token_bucket() -> Client {
    let about =
        "limiter-redis with a bucket: the limit comes back evenly, and as much can be saved up";
    rule("token-bucket", about, |built, length, burst| {
        built.token_bucket(length, burst)
    })
    .promising(|parameters| Promise::TokenBucket {
        limit: parameters.limit,
        length_ms: parameters.window_ms,
        burst: parameters.limit,
    })
}

/// Leases, released when their work is done.
pub(crate) fn in_flight() -> Client {
    let about = "limiter-redis with leases, each released when its work is done";
    Client::new("in-flight", about, |env| async move {
        let policy = policy(&env, IN_FLIGHT);
        hold(&env, &policy, 0).await
    })
    .requiring(|parameters| check(parameters, IN_FLIGHT))
    .telling_workers_apart()
    .unordered(GIVES_BACK)
    .promising(|parameters| Promise::InFlight {
        limit: parameters.limit,
        lease_ms: parameters.window_ms,
    })
    .using(Uses::SCRIPTS)
    .charging(charges)
}

/// Reserves an estimate, and gives back what was not used.
pub(crate) fn reserve_and_settle() -> Client {
    let about =
        "limiter-redis: reserve an estimate, then give back half of it (all of a single unit)";
    Client::new("reserve-and-settle", about, |env| async move {
        let policy = policy(&env, |built, length, _| {
            built.first_arrival(length).refundable()
        });
        let used = env.parameters().cost / 2;
        hold(&env, &policy, used).await
    })
    .telling_workers_apart()
    .unordered(GIVES_BACK)
    .using(Uses::SCRIPTS)
    .charging(charges)
}

/// Two budgets at once.
pub(crate) fn two_budgets() -> Client {
    let about =
        "limiter-redis: a first-arrival window and a rolling one, charged together or not at all";
    Client::new("two-budgets", about, |env| async move {
        let cost = cost(env.parameters());
        let window = policy(&env, |built, length, _| built.first_arrival(length));
        let interval = policy(&env, |built, length, _| built.scope("all").rolling(length));
        let charge = |policy: &Policy| Charge::new(Budget::of(policy, "budget"), cost);
        let request = Acquire::all([charge(&window), charge(&interval)]);
        told(store(&env).acquire(&request.expect("two budgets")).await)
    })
    .requiring(|parameters| check(parameters, ROLLING))
    .promising(|parameters| {
        Promise::All(vec![
            Promise::first_arrival(parameters),
            rolling_promise(parameters),
        ])
    })
    .using(Uses::SCRIPTS)
    .charging(charges)
}

/// The same call once more after an uncertain answer, under the same id.
pub(crate) fn request_id_retry() -> Client {
    let about = "limiter-redis, asked again under the same request id when it is uncertain whether it had charged";
    Client::new("request-id-retry", about, |env| async move {
        let policy = policy(&env, |built, length, _| built.first_arrival(length));
        let id = RequestId::new(identifier(&env)).expect("16 bytes");
        let request = request(&env, &policy).with_id(id);
        let store = store(&env);
        match store.acquire(&request).await {
            Err(error) if error.may_have_spent() => told(store.acquire(&request).await),
            decided => told(decided),
        }
    })
    .telling_workers_apart()
    .using(Uses::SCRIPTS)
    .charging(charges)
}

/// What a time rule makes of a policy, of the window's length, and of the limit.
type Rule = fn(PolicyBuilder, Duration, u64) -> PolicyBuilder;

const ROLLING: Rule = |built, length, _| built.rolling(length);
const IN_FLIGHT: Rule = |built, length, _| built.in_flight(length);

fn rule(name: &str, about: &str, rule: Rule) -> Client {
    Client::new(name, about, move |env| async move {
        let request = request(&env, &policy(&env, rule));
        told(store(&env).acquire(&request).await)
    })
    .requiring(move |parameters| check(parameters, rule))
    .using(Uses::SCRIPTS)
    .charging(charges)
}

pub(super) fn store(env: &Env) -> RedisStore<SimConnection> {
    RedisStore::new(env.connect(Endpoint::Primary))
}

fn policy(env: &Env, rule: Rule) -> Policy {
    built(env.parameters(), rule).expect("the parameters were checked")
}

fn built(parameters: &Parameters, rule: Rule) -> Result<Policy, Error> {
    let built = Policy::named("simulated")
        .scope("simulation")
        .limit(parameters.limit);
    let length = Duration::from_millis(parameters.window_ms);
    rule(built, length, parameters.limit).build()
}

/// Whether the rule can keep the limit, and takes the cost.
fn check(parameters: &Parameters, rule: Rule) -> Result<(), String> {
    let mut offered = Capabilities::on_server();
    offered.rules = RuleSet::ALL;
    let request = |policy: Policy| {
        let request = Acquire::of(&policy, "budget", cost(parameters));
        request.with_nonce(Nonce::from_bytes([0; 16]))
    };
    built(parameters, rule)
        .and_then(|policy| request(policy).check(&offered, &"limiter-redis"))
        .map_err(|error| error.message().to_owned())
}

fn cost(parameters: &Parameters) -> Cost {
    Cost::new(parameters.cost).expect("the parameters were checked")
}

fn request(env: &Env, policy: &Policy) -> Acquire {
    let request = Acquire::of(policy, "budget", cost(env.parameters()));
    match request.needs_nonce() {
        true => request.with_nonce(Nonce::from_bytes(identifier(env))),
        false => request,
    }
}

/// What no other attempt has.
fn identifier(env: &Env) -> [u8; 16] {
    let worker = env.class() as u64;
    let attempt = u64::from(env.attempt());
    (u128::from(worker) << 64 | u128::from(attempt)).to_be_bytes()
}

/// Acquires, does the work, and gives back what it did not use.
async fn hold(env: &Env, policy: &Policy, used: u64) -> Outcome {
    let store = store(env);
    match store.acquire(&request(env, policy)).await {
        Ok(Decision::Admitted(admission)) => {
            env.go_ahead();
            give_back(&store, admission, used).await;
            Outcome::Admitted
        }
        decided => told(decided),
    }
}

/// What the store does not take back, or is uncertain about, comes back by itself.
async fn give_back(store: &impl BudgetStore, admission: Admission, used: u64) {
    let receipts = admission.into_receipts();
    for receipt in receipts.filter_map(|receipt| receipt.settle(used)) {
        let _ = store.refund(receipt).await;
    }
}

/// An acquisition replies with 1 first where it admitted, and it charges where it admits; with 2
/// where it only repeats an admission. What is given back is a reply of two: 1 and the units.
pub(super) fn charges(request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
    let Reply::Array(fields) = reply else {
        return 0;
    };
    if !(request.is("EVALSHA") || request.is("EVAL")) {
        return 0;
    }
    match &fields[..] {
        [Reply::Int(1), Reply::Int(units)] => -units,
        [Reply::Int(1), ..] => parameters.cost.cast_signed(),
        _ => 0,
    }
}
