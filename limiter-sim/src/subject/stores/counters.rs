//! Counters whose first increment and whose deadline are two commands.

use redis::RedisResult;

use super::{KEY, counter_charges, expire, increment, told};
use crate::process::{Endpoint, Env};
use crate::subject::Client;

/// `INCR`; if the reply is 1, `PEXPIRE`; above the limit, `DECR` and deny.
pub(crate) fn increment_then_expire() -> Client {
    let about = "INCR; if the reply is 1, PEXPIRE; above the limit, DECR and deny";
    Client::new("increment-then-expire", about, |env| async move {
        told(acquire(&env, true).await)
    })
    .broken("leaves a counter without a deadline where its client ends between the two commands")
    .charging(counter_charges)
}

/// The same without the `DECR`.
pub(crate) fn increment_then_expire_spending() -> Client {
    let about = "INCR; if the reply is 1, PEXPIRE; above the limit, deny: a denial spends";
    Client::new("increment-then-expire-spending", about, |env| async move {
        told(acquire(&env, false).await)
    })
    .broken(
        "lets denials spend, and leaves a counter without a deadline where its client ends early",
    )
    .charging(counter_charges)
}

async fn acquire(env: &Env, gives_back: bool) -> RedisResult<bool> {
    let parameters = env.parameters();
    let mut connection = env.connect(Endpoint::Primary);
    let total = increment(&mut connection, parameters.cost).await?;
    if total == parameters.cost {
        expire(&mut connection, parameters.window_ms).await?;
    }
    if total <= parameters.limit {
        return Ok(true);
    }
    if gives_back {
        redis::cmd("DECRBY")
            .arg(KEY)
            .arg(parameters.cost)
            .exec_async(&mut connection)
            .await?;
    }
    Ok(false)
}

/// `SET key 0 NX PX window`; `INCR`; above the limit, `DECR` and deny.
pub(crate) fn set_nx_then_increment() -> Client {
    let about = "SET key 0 PX window NX; INCR; above the limit, DECR and deny";
    Client::new("set-nx-then-increment", about, |env| async move {
        told(acquire_in_existing(&env).await)
    })
    .broken("makes a counter without a deadline where the window ends between the two commands")
    .charging(counter_charges)
}

async fn acquire_in_existing(env: &Env) -> RedisResult<bool> {
    let parameters = env.parameters();
    let mut connection = env.connect(Endpoint::Primary);
    redis::cmd("SET")
        .arg(KEY)
        .arg(0)
        .arg("PX")
        .arg(parameters.window_ms)
        .arg("NX")
        .exec_async(&mut connection)
        .await?;
    let total = increment(&mut connection, parameters.cost).await?;
    if total <= parameters.limit {
        return Ok(true);
    }
    redis::cmd("DECRBY")
        .arg(KEY)
        .arg(parameters.cost)
        .exec_async(&mut connection)
        .await?;
    Ok(false)
}
