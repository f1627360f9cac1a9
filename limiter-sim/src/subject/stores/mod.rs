//! Stores to compare: real client code over the same connection. The broken ones live here, where
//! nobody can use them by mistake.

mod atomic;
mod coalescing;
mod counters;
mod failing;
mod in_process;
mod remembered;
mod rules;
mod split;
mod token_bucket;
mod transaction;

pub(super) use atomic::{atomic_window, atomic_window_retry, fail_closed, fail_open};
pub(super) use coalescing::Coalescing;
pub(super) use counters::{
    increment_then_expire, increment_then_expire_spending, set_nx_then_increment,
};
pub(super) use failing::{circuit, deadline, fallback};
pub(super) use in_process::{memory_partitioned, memory_per_worker};
pub(super) use remembered::remembered_denials;
pub(super) use rules::{
    aligned, in_flight, request_id_retry, reserve_and_settle, rolling, token_bucket, two_budgets,
};
pub(super) use split::{replica_read, split};
pub(super) use token_bucket::client_clock_bucket;
pub(super) use transaction::watch_multi;

use redis::RedisResult;

use crate::process::{Outcome, SimConnection};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};

/// The one key that all of them count in.
const KEY: &str = "budget";

/// Raises the counter by `cost`: `INCR` for one unit, as most clients do.
async fn increment(connection: &mut SimConnection, cost: u64) -> RedisResult<u64> {
    match cost {
        1 => redis::cmd("INCR").arg(KEY).query_async(connection).await,
        _ => {
            redis::cmd("INCRBY")
                .arg(KEY)
                .arg(cost)
                .query_async(connection)
                .await
        }
    }
}

async fn expire(connection: &mut SimConnection, window_ms: u64) -> RedisResult<()> {
    redis::cmd("PEXPIRE")
        .arg(KEY)
        .arg(window_ms)
        .exec_async(connection)
        .await
}

/// A counter that is raised charges; one that is lowered gives back.
fn counter_charges(request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
    let cost = parameters.cost.cast_signed();
    match reply {
        Reply::Int(_) if request.is("INCR") || request.is("INCRBY") => cost,
        Reply::Int(_) if request.is("DECR") || request.is("DECRBY") => -cost,
        _ => 0,
    }
}

/// What the caller is told; an error of the connection is an error to it as well.
fn told(admitted: RedisResult<bool>) -> Outcome {
    match admitted {
        Ok(true) => Outcome::Admitted,
        Ok(false) => Outcome::Denied,
        Err(_) => Outcome::Failed,
    }
}
