//! Check, then update: two commands where one decision was meant.

use redis::RedisResult;

use super::{KEY, counter_charges, expire, increment, told};
use crate::process::{Endpoint, Env};
use crate::subject::{Client, Uses};

/// `GET`; compare; `INCR`; if the reply is 1, `PEXPIRE`.
pub(crate) fn split() -> Client {
    let about = "GET; compare; INCR; if the reply is 1, PEXPIRE";
    Client::new("split", about, |env| async move {
        told(acquire(&env, Endpoint::Primary).await)
    })
    .broken("decides on a count that others can raise before it is charged")
    .charging(counter_charges)
}

/// The same with the `GET` on a replica.
pub(crate) fn replica_read() -> Client {
    let about = "GET on a replica; compare; INCR on the primary; if the reply is 1, PEXPIRE";
    Client::new("replica-read", about, |env| async move {
        told(acquire(&env, Endpoint::Replica).await)
    })
    .broken("decides on a count that is old already when it is read")
    .using(Uses {
        replica: true,
        ..Uses::SERVER
    })
    .charging(counter_charges)
}

async fn acquire(env: &Env, checked_on: Endpoint) -> RedisResult<bool> {
    let parameters = env.parameters();
    let mut primary = env.connect(Endpoint::Primary);
    let mut checked = match checked_on {
        Endpoint::Primary => primary.clone(),
        Endpoint::Replica => env.connect(Endpoint::Replica),
    };
    let count: Option<u64> = redis::cmd("GET").arg(KEY).query_async(&mut checked).await?;
    if count.unwrap_or(0) + parameters.cost > parameters.limit {
        return Ok(false);
    }
    let total = increment(&mut primary, parameters.cost).await?;
    if total == parameters.cost {
        expire(&mut primary, parameters.window_ms).await?;
    }
    Ok(true)
}
