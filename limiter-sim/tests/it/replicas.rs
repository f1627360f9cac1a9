//! What `WAIT` and `min-replicas-to-write` save from a failover, and what they do not.

use std::sync::Arc;

use limiter_sim::server::{Config, Reply, Request};
use limiter_sim::{Client, Endpoint, Env, Exploration, Fault, Outcome, Parameters, Scenario, Uses};
use redis::RedisResult;

use crate::support::{exhaust, scenario};

/// Counts in one script, then asks that a replica has it before the work may go on.
fn count_and_wait() -> Client {
    Client::new("count-and-wait", "count, then WAIT", |env| async move {
        acquire(&env).await.unwrap_or(Outcome::Failed)
    })
    .using(Uses::SCRIPTS)
    .charging(charges)
}

const COUNT: &str = "local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if count >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], count + 1, 'PX', ARGV[2])
return 1";

async fn acquire(env: &Env) -> RedisResult<Outcome> {
    let mut connection = env.connect(Endpoint::Primary);
    let parameters = env.parameters();
    let mut count = redis::cmd("EVAL");
    count.arg(COUNT).arg(1).arg("budget");
    count.arg(parameters.limit).arg(parameters.window_ms);
    if count.query_async::<u64>(&mut connection).await? == 0 {
        return Ok(Outcome::Denied);
    }
    let mut wait = redis::cmd("WAIT");
    match wait.arg(1).arg(50).query_async(&mut connection).await? {
        0 => Ok(Outcome::Failed),
        _ => Ok(Outcome::Admitted),
    }
}

fn charges(request: &Request, reply: &Reply, _: &Parameters) -> i64 {
    i64::from(request.is("EVAL") && *reply == Reply::Int(1))
}

fn waiting(acknowledging_replicas: u32, fault: Fault, times: u32) -> Exploration {
    let config = Config {
        acknowledging_replicas,
        ..Config::default()
    };
    let scenario = Scenario::new(Arc::new(count_and_wait()));
    let scenario = scenario.server(config).workers(3).attempts(2).limit(2);
    exhaust(&scenario.fault(fault, times))
}

#[test]
fn what_a_replica_acknowledged_survives_one_failover() {
    let found = waiting(1, Fault::Failover, 1);
    assert_eq!((found.max_admitted, found.verdict), (2, "proved"));
}

#[test]
fn what_a_replica_acknowledged_does_not_bind_the_next_one() {
    assert!(waiting(1, Fault::Failover, 2).max_admitted > 2);
}

#[test]
fn what_a_replica_acknowledged_does_not_survive_a_restart_of_the_primary() {
    assert_eq!(waiting(1, Fault::Restart, 1).max_admitted, 4);
}

#[test]
fn an_old_primary_is_told_of_no_replica_and_admits_nothing_more() {
    assert_eq!(waiting(1, Fault::SplitBrain, 1).max_admitted, 2);
}

#[test]
fn where_no_replica_acknowledges_in_time_nobody_is_admitted() {
    assert_eq!(waiting(0, Fault::Failover, 1).max_admitted, 0);
}

/// A split brain, in windows that are longer than it takes to miss a replica.
fn split(store: &str, min_replicas_to_write: u32) -> u64 {
    let config = Config {
        min_replicas_to_write,
        ..Config::default()
    };
    let scenario = scenario(store).server(config).window_ms(30_000);
    let scenario = scenario.workers(2).attempts(4).limit(2).time_steps(1);
    exhaust(&scenario.fault(Fault::SplitBrain, 1)).max_admitted
}

#[test]
fn min_replicas_does_not_keep_an_old_primary_from_admitting_before_it_misses_its_replica() {
    assert_eq!(
        (split("atomic-window", 0), split("atomic-window", 1)),
        (4, 4)
    );
}

#[test]
fn an_old_primary_that_misses_its_replica_refuses_to_write() {
    // Who takes the refusal for an empty counter admits more than without it.
    assert_eq!((split("fail-open", 0), split("fail-open", 1)), (6, 8));
}
