//! Strings that are numbers.

use super::context::{Context, Outcome};
use crate::server::extended::{Extended, Sum};
use crate::server::reply::Failure;
use crate::server::value::Text;
use crate::server::{Bytes, Reply, Version};

pub(super) fn incr(cx: &mut Context<'_>) -> Outcome {
    add(cx, 1)
}

pub(super) fn decr(cx: &mut Context<'_>) -> Outcome {
    add(cx, -1)
}

pub(super) fn incrby(cx: &mut Context<'_>) -> Outcome {
    add(cx, cx.integer(2)?)
}

pub(super) fn decrby(cx: &mut Context<'_>) -> Outcome {
    let amount = cx.integer(2)?;
    if amount == i64::MIN && cx.version() > Version::Redis62 {
        return Err("ERR decrement would overflow".into());
    }
    add(cx, amount.wrapping_neg())
}

fn add(cx: &mut Context<'_>, amount: i64) -> Outcome {
    let key = cx.arg(1);
    let old = match cx.node.text(key)? {
        None => 0,
        Some(text) => text.as_int().ok_or_else(Failure::not_integer)?,
    };
    let new = old
        .checked_add(amount)
        .ok_or("ERR increment or decrement would overflow")?;
    cx.node.put_text(key, Text::Int(new));
    Ok(Reply::Int(new))
}

pub(super) fn incrbyfloat(cx: &mut Context<'_>) -> Outcome {
    let key = cx.arg(1);
    let old = cx
        .node
        .text(key)?
        .map_or_else(|| Bytes::from("0"), Text::to_bytes);
    let new = sum_of_floats(cx, &old, cx.arg(2), Failure::NOT_FLOAT)?;
    cx.node.put_text(key, Text::from(&new));
    Ok(Reply::Bulk(new))
}

/// The sum of two numbers in the extended precision that the server uses for this.
pub(super) fn sum_of_floats(
    cx: &mut Context<'_>,
    old: &[u8],
    amount: &[u8],
    not_float: &str,
) -> Result<Bytes, Failure> {
    let old = Extended::parse(old).ok_or(not_float)?;
    let amount = Extended::parse(amount).ok_or(Failure::NOT_FLOAT)?;
    match old.add(amount) {
        Sum::Number(text) => Ok(text.into()),
        Sum::Infinite => Err("ERR increment would produce NaN or Infinity".into()),
        Sum::Unknown(text) => {
            cx.node.note_unmodelled("INCRBYFLOAT beyond exact decimals");
            Ok(text.into())
        }
    }
}
