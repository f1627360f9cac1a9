//! From the reply of a script that knows every rule to the answer that a caller gets.

use std::time::Duration;

use limiter_core::{
    Acquire, Admission, Budget, Charge, Decision, Denial, Error, Grant, MAX_UNITS, Receipt,
    Refunded, Refusal, Renewed, Snapshot, Timestamp, Wait, WindowIdentity,
};
use redis::Value;

use crate::answer::{corrupt, foreign};
use crate::place::Place;

const PER_GRANT: usize = 5;
const PER_REFUSAL: usize = 3;

/// The decision on `request` that `value` is.
pub(crate) fn decision(request: &Acquire, place: Place, value: &Value) -> Result<Decision, Error> {
    // Something ran, and nobody can know what: not the script as it was sent.
    let unreadable = || Error::uncertain(foreign(value));
    match read(value) {
        Some((1, parts)) => {
            let admission = admission(request, place, parts).ok_or_else(unreadable)?;
            Ok(Decision::Admitted(admission))
        }
        Some((2, parts)) => {
            let admission = admission(request, place, parts).ok_or_else(unreadable)?;
            Ok(Decision::Admitted(admission.as_repeat()))
        }
        Some((0, parts)) => {
            let denial = denial(request, parts).ok_or_else(unreadable)?;
            Ok(Decision::Denied(denial))
        }
        Some((-1, parts)) => Err(damage(request.charges(), parts).ok_or_else(unreadable)?),
        Some((-2, [Value::BulkString(why)])) => {
            Err(Error::invalid(String::from_utf8_lossy(why).into_owned()))
        }
        _ => Err(unreadable()),
    }
}

/// The snapshot of `budget` that `value` is.
pub(crate) fn snapshot(budget: &Budget, place: Place, value: &Value) -> Result<Snapshot, Error> {
    match read(value) {
        Some((0, [])) => Ok(Snapshot::unused(place.policy(budget)?.largest_cost())),
        Some((1, [total, remaining, over_in])) => {
            let seen = || {
                Some(Snapshot {
                    total: units(total)?,
                    remaining: units(remaining)?,
                    resets_in: Some(duration(over_in)?),
                })
            };
            seen().ok_or_else(|| Error::unavailable(foreign(value)))
        }
        Some((-1, [_, what])) => Err(corrupt(budget, &text(what))),
        _ => Err(Error::unavailable(foreign(value))),
    }
}

/// The answer to a refund that `value` is.
pub(crate) fn refunded(budget: &Budget, value: &Value) -> Result<Refunded, Error> {
    let unreadable = || Error::uncertain(foreign(value));
    match read(value) {
        Some((1, [given])) => {
            let units = units(given).ok_or_else(unreadable)?;
            Ok(Refunded::Credited { units })
        }
        Some((2, [_])) => Ok(Refunded::Late),
        Some((3, [_])) => Ok(Refunded::Repeated),
        Some((4, [_])) => Ok(Refunded::Refused),
        Some((-1, [Value::Int(0), what])) => Err(damaged_record(&text(what))),
        Some((-1, [_, what])) => Err(corrupt(budget, &text(what))),
        _ => Err(unreadable()),
    }
}

/// The answer to a renewal that `value` is.
pub(crate) fn renewed(budget: &Budget, value: &Value) -> Result<Renewed, Error> {
    let unreadable = || Error::uncertain(foreign(value));
    match read(value) {
        Some((1, [over_in])) => {
            let ends_in = duration(over_in).ok_or_else(unreadable)?;
            Ok(Renewed::Extended { ends_in })
        }
        Some((0, [])) => Ok(Renewed::Lost),
        Some((-1, [_, what])) => Err(corrupt(budget, &text(what))),
        _ => Err(unreadable()),
    }
}

/// The leading number, and what follows it.
fn read(value: &Value) -> Option<(i64, &[Value])> {
    match value {
        Value::Array(parts) => match parts.as_slice() {
            [Value::Int(verdict), parts @ ..] => Some((*verdict, parts)),
            _ => None,
        },
        _ => None,
    }
}

fn admission(request: &Acquire, place: Place, parts: &[Value]) -> Option<Admission> {
    let charges = request.charges();
    if parts.len() != charges.len() * PER_GRANT {
        return None;
    }
    let grants = charges.iter().zip(parts.chunks_exact(PER_GRANT));
    let grants: Option<Vec<Grant>> = grants
        .map(|(charge, parts)| grant(charge, place, parts))
        .collect();
    let admission = Admission::new(grants?);
    Some(match request.remembered() {
        Some(remembered) => admission.of_request(remembered.id()),
        None => admission,
    })
}

fn grant(charge: &Charge, place: Place, parts: &[Value]) -> Option<Grant> {
    let [total, remaining, over_in, identity, serial] = parts else {
        return None;
    };
    let budget = charge.budget();
    let window = window(budget, place, identity)?;
    let serial = units(serial)?;
    let receipt = || Receipt::new(budget, window, serial, charge.cost());
    Some(Grant {
        total: units(total)?,
        remaining: units(remaining)?,
        resets_in: duration(over_in)?,
        receipt: budget.policy().gives_receipts().then(receipt),
    })
}

/// An identity is 32 hexadecimal digits of a nonce, or an instant in fewer decimal ones.
fn window(budget: &Budget, place: Place, value: &Value) -> Option<WindowIdentity> {
    let Value::BulkString(bytes) = value else {
        return None;
    };
    let text = std::str::from_utf8(bytes).ok()?;
    if text.len() == 32 {
        let number = u128::from_str_radix(text, 16).ok()?;
        return Some(WindowIdentity(number.to_be_bytes()));
    }
    let at = WindowIdentity::at(Timestamp::from_millis(text.parse().ok()?));
    Some(place.identity_at(budget, at))
}

fn denial(request: &Acquire, parts: &[Value]) -> Option<Denial> {
    if parts.is_empty() || !parts.len().is_multiple_of(PER_REFUSAL) {
        return None;
    }
    let refusals = parts.chunks_exact(PER_REFUSAL).map(|parts| {
        let [number, remaining, wait] = parts else {
            return None;
        };
        Some(Refusal {
            budget: charge(request.charges(), number)?.budget().clone(),
            remaining: units(remaining)?,
            wait: match wait {
                Value::Int(-1) => Wait::Never,
                wait => Wait::For(duration(wait)?),
            },
        })
    });
    let refusals: Option<Vec<Refusal>> = refusals.collect();
    Some(Denial::new(refusals?))
}

/// The error for every budget that is not as it was written.
fn damage(charges: &[Charge], parts: &[Value]) -> Option<Error> {
    let mut messages = Vec::new();
    for pair in parts.chunks(2) {
        let [number, what] = pair else {
            return None;
        };
        let error = match number {
            Value::Int(0) => damaged_record(&text(what)),
            number => corrupt(charge(charges, number)?.budget(), &text(what)),
        };
        messages.push(error.message().to_owned());
    }
    (!messages.is_empty()).then(|| Error::corrupt(messages.join("; ")))
}

fn damaged_record(what: &str) -> Error {
    Error::corrupt(format!(
        "what is remembered under the request id was not written by this store: {what}"
    ))
}

/// The charge with this number, from 1.
fn charge<'a>(charges: &'a [Charge], number: &Value) -> Option<&'a Charge> {
    match number {
        Value::Int(number) => charges.get(usize::try_from(*number).ok()?.checked_sub(1)?),
        _ => None,
    }
}

fn units(value: &Value) -> Option<u64> {
    match value {
        Value::Int(units) => u64::try_from(*units).ok().filter(|u| *u <= MAX_UNITS),
        _ => None,
    }
}

fn duration(value: &Value) -> Option<Duration> {
    let ms = units(value).filter(|ms| *ms > 0)?;
    Some(Duration::from_millis(ms))
}

fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => "for no reason that the script gives".to_owned(),
    }
}

#[cfg(test)]
mod tests;
