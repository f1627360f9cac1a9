//! Requests and answers in few words.

use std::sync::LazyLock;
use std::time::Duration;

use limiter_core::{
    Acquire, Budget, BudgetStore, Charge, Cost, CountingNonces, Decision, Error, Grant, Identity,
    Nonce, Nonces, Policy, Refusal,
};

use crate::server::Server;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) fn policy(limit: u64, length: Duration) -> Policy {
    Policy::named("test")
        .scope("tests")
        .limit(limit)
        .first_arrival(length)
        .build()
        .unwrap()
}

pub(crate) async fn ask(
    store: &impl BudgetStore,
    policy: &Policy,
    identity: impl Into<Identity>,
    cost: u64,
) -> Result<Decision, Error> {
    let request = Acquire::of(policy, identity, Cost::new(cost).unwrap()).with_nonce(nonce());
    store.acquire(&request).await
}

pub(crate) fn granted(decision: Result<Decision, Error>) -> Grant {
    let admission = decision.expect("a decision").admitted();
    let mut grants = admission.expect("an admission").into_grants();
    grants.next().expect("one grant")
}

pub(crate) fn refused(decision: Result<Decision, Error>) -> Refusal {
    let denial = decision.expect("a decision").denied().expect("a denial");
    denial.refusals()[0].clone()
}

/// The key of the budget of `identity`, as a string.
pub(crate) async fn key(server: &Server, policy: &Policy, identity: &str) -> String {
    let budget = Budget::of(policy, identity);
    String::from_utf8(server.store().await.redis_key(&budget)).unwrap()
}

/// What is stored, and until which millisecond, by the server's clock.
pub(crate) async fn stored(server: &Server, key: &str) -> (Option<String>, i64) {
    let value: Option<String> = server.run(&format!("GET {key}")).await;
    (value, deadline(server, key).await)
}

/// The key's deadline; 6.2 has no PEXPIRETIME. The time that a script reads can be later than the
/// time-to-live on 6.2 and 7.0, so the smallest of several sums is taken.
async fn deadline(server: &Server, key: &str) -> i64 {
    let script = "local t = redis.call('TIME') \
                  return t[1] * 1000 + math.floor(t[2] / 1000) + redis.call('PTTL', KEYS[1])";
    let mut connection = server.connection().await;
    let mut sums = Vec::new();
    for _ in 0..20 {
        let mut command = redis::cmd("EVAL");
        command.arg(script).arg(1).arg(key);
        sums.push(command.query_async(&mut connection).await.unwrap());
    }
    sums.into_iter().max().unwrap()
}

/// A policy under every rule and stored form, of one scope.
pub(crate) fn policies(limit: u64, length: Duration) -> Vec<Policy> {
    let built = || Policy::named("test").scope("tests").limit(limit);
    let policies = [
        built().first_arrival(length),
        built().aligned(length),
        built().rolling(length),
        built().token_bucket(length, limit),
        built().in_flight(length),
        built().first_arrival(length).refundable(),
        built().aligned(length).refundable(),
    ];
    policies.map(|policy| policy.build().unwrap()).to_vec()
}

/// A nonce that no other request of this process has.
pub(crate) fn nonce() -> Nonce {
    static NONCES: LazyLock<CountingNonces> = LazyLock::new(CountingNonces::random);
    NONCES.next()
}

/// One request for all of these.
pub(crate) fn together(budgets: impl IntoIterator<Item = Budget>, cost: u64) -> Acquire {
    let cost = Cost::new(cost).unwrap();
    let charges = budgets.into_iter().map(|budget| Charge::new(budget, cost));
    Acquire::all(charges).unwrap().with_nonce(nonce())
}
