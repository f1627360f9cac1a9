//! Optimistic: look, then write on the condition that nobody else did.

use redis::RedisResult;

use super::{KEY, told};
use crate::process::{Endpoint, Env, Outcome};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::subject::Client;

/// How often a transaction that others overtook is tried again.
const RETRIES: u32 = 3;

/// `WATCH`; `GET`; compare; `MULTI`, `INCRBY`, `PEXPIRE` if it is the first, `EXEC`; tried again
/// where others came first.
pub(crate) fn watch_multi() -> Client {
    let about = "WATCH; GET; compare; MULTI, INCRBY, PEXPIRE if it is the first, EXEC; 3 retries";
    Client::new("watch-multi", about, |env| async move {
        match acquire(&env).await {
            // Overtaken every time: nothing was charged, and nothing is known.
            Ok(None) => Outcome::Failed,
            Ok(Some(admitted)) => told(Ok(admitted)),
            Err(error) => told(Err(error)),
        }
    })
    .charging(charges)
}

async fn acquire(env: &Env) -> RedisResult<Option<bool>> {
    let parameters = env.parameters();
    let mut connection = env.connect(Endpoint::Primary);
    for _ in 0..=RETRIES {
        redis::cmd("WATCH")
            .arg(KEY)
            .exec_async(&mut connection)
            .await?;
        let count: Option<u64> = redis::cmd("GET")
            .arg(KEY)
            .query_async(&mut connection)
            .await?;
        if count.unwrap_or(0) + parameters.cost > parameters.limit {
            redis::cmd("UNWATCH").exec_async(&mut connection).await?;
            return Ok(Some(false));
        }
        let mut transaction = redis::pipe();
        transaction
            .atomic()
            .cmd("INCRBY")
            .arg(KEY)
            .arg(parameters.cost)
            .ignore();
        if count.is_none() {
            transaction
                .cmd("PEXPIRE")
                .arg(KEY)
                .arg(parameters.window_ms)
                .ignore();
        }
        let executed: Option<()> = transaction.query_async(&mut connection).await?;
        if executed.is_some() {
            return Ok(Some(true));
        }
    }
    Ok(None)
}

fn charges(request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
    let executed = request.is("EXEC") && matches!(reply, Reply::Array(_));
    if executed {
        parameters.cost.cast_signed()
    } else {
        0
    }
}
