//! A token bucket as many libraries have it: refilled by the clock of whoever asks.

use limiter_core::Clock;
use redis::RedisResult;

use super::{KEY, told};
use crate::process::{Endpoint, Env};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::subject::{Client, Uses};

const SCRIPT: &str = include_str!("lua/client_clock_bucket.lua");

/// One script, but the time comes from the caller.
pub(crate) fn client_clock_bucket() -> Client {
    let about = "a token bucket in one script, refilled by the time that its caller sends";
    Client::new("client-clock-bucket", about, |env| async move {
        told(acquire(&env).await)
    })
    .broken("refills by whichever caller's clock is ahead")
    .using(Uses {
        clock: true,
        ..Uses::SERVER
    })
    .unordered("a bucket denies where a window would not")
    .charging(charges)
}

async fn acquire(env: &Env) -> RedisResult<bool> {
    let parameters = env.parameters();
    let mut connection = env.connect(Endpoint::Primary);
    let now = env.clock().now().as_millis();
    let admitted: u64 = redis::cmd("EVAL")
        .arg(SCRIPT)
        .arg(1)
        .arg(KEY)
        .arg(parameters.limit)
        .arg(parameters.window_ms)
        .arg(parameters.cost)
        .arg(now)
        .query_async(&mut connection)
        .await?;
    Ok(admitted == 1)
}

fn charges(request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
    let admitted = request.is("EVAL") && *reply == Reply::Int(1);
    if admitted {
        parameters.cost.cast_signed()
    } else {
        0
    }
}
