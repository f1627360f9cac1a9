//! From the reply of a first-arrival script to the answer that a caller gets.

use limiter_core::{
    Admission, Budget, Charge, Decision, Denial, Error, Grant, Limit, Refusal, Snapshot, Wait,
};
use redis::Value;

use crate::reply::Reply;

/// The decision on `charge`, under `limit`, that `value` is.
pub(crate) fn decision(charge: &Charge, limit: Limit, value: &Value) -> Result<Decision, Error> {
    // Something ran, and nobody can know what: not the script as it was sent.
    let unreadable = || Error::uncertain(foreign(value));
    decided(charge, limit, Reply::read(value).ok_or_else(unreadable)?)
}

/// The decision on `charge`, under `limit`, that `reply` says.
pub(crate) fn decided(charge: &Charge, limit: Limit, reply: Reply) -> Result<Decision, Error> {
    let (budget, limit) = (charge.budget(), limit.get());
    let (total, wait) = match reply {
        Reply::Yes { total, resets_in } => {
            return Ok(Decision::Admitted(Admission::of(Grant {
                total,
                remaining: limit.saturating_sub(total),
                resets_in,
                receipt: None,
            })));
        }
        Reply::Corrupt(reason) => return Err(corrupt(budget, &reason)),
        Reply::No { total, .. } if charge.cost().get() > limit => (total, Wait::Never),
        Reply::No {
            total,
            resets_in: Some(wait),
        } => (total, Wait::For(wait)),
        Reply::No { .. } => {
            return Err(Error::uncertain(
                "the reply is none that the script gives: it denies without an open window",
            ));
        }
    };
    Ok(Decision::Denied(Denial::new([Refusal {
        budget: budget.clone(),
        remaining: limit.saturating_sub(total),
        wait,
    }])))
}

/// The snapshot of `budget`, under `limit`, that `value` is.
pub(crate) fn snapshot(budget: &Budget, limit: Limit, value: &Value) -> Result<Snapshot, Error> {
    let (total, resets_in) = match Reply::read(value) {
        Some(Reply::Yes { total, resets_in }) => (total, Some(resets_in)),
        Some(Reply::No { .. }) => (0, None),
        Some(Reply::Corrupt(reason)) => return Err(corrupt(budget, &reason)),
        None => return Err(Error::unavailable(foreign(value))),
    };
    Ok(Snapshot {
        total,
        remaining: limit.get().saturating_sub(total),
        resets_in,
    })
}

/// Names the budget by its key without the identity, which does not belong in logs.
pub(crate) fn corrupt(budget: &Budget, reason: &str) -> Error {
    Error::corrupt(format!(
        "what is stored for policy {:?} under {:?} was not written by this store: {reason}",
        budget.policy().name(),
        budget.key(),
    ))
}

pub(crate) fn foreign(value: &Value) -> String {
    let kind = match value {
        Value::Nil => "nil",
        Value::Int(_) => "an integer",
        Value::BulkString(_) | Value::SimpleString(_) | Value::VerbatimString { .. } => "a string",
        Value::Array(_) => "an array",
        Value::Okay => "OK",
        _ => "of another type",
    };
    format!("the reply is none that the script gives: it is {kind}")
}
