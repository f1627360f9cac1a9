//! Hashes.

use super::context::{Context, Outcome};
use super::counters::sum_of_floats;
use crate::server::extended::Extended;
use crate::server::reply::Failure;
use crate::server::value::{Hash, Text};
use crate::server::{Bytes, Reply};

fn bulk(text: Option<&Text>) -> Reply {
    text.map_or(Reply::Nil, |text| Reply::Bulk(text.to_bytes()))
}

/// Sets all pairs; says how many fields are new.
fn set_fields(cx: &mut Context<'_>) -> Result<i64, Failure> {
    let pairs = cx.args(2);
    if !pairs.len().is_multiple_of(2) {
        return Err(cx.wrong_arity());
    }
    cx.node.change(cx.arg(1), |hash: &mut Hash| {
        let new = pairs
            .chunks_exact(2)
            .filter(|pair| hash.insert(&pair[0], Text::from(&pair[1])));
        (new.count() as i64, true)
    })
}

pub(super) fn hset(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(set_fields(cx)?))
}

pub(super) fn hmset(cx: &mut Context<'_>) -> Outcome {
    set_fields(cx)?;
    Ok(Reply::ok())
}

pub(super) fn hsetnx(cx: &mut Context<'_>) -> Outcome {
    let (field, value) = (cx.arg(2), cx.arg(3));
    let new = cx.node.change(cx.arg(1), |hash: &mut Hash| {
        let new = hash.field(field).is_none() && hash.insert(field, Text::from(value));
        (new, new)
    })?;
    Ok(Reply::Int(i64::from(new)))
}

pub(super) fn hget(cx: &mut Context<'_>) -> Outcome {
    let hash = cx.node.read::<Hash>(cx.arg(1))?;
    Ok(bulk(hash.and_then(|hash| hash.field(cx.arg(2)))))
}

pub(super) fn hmget(cx: &mut Context<'_>) -> Outcome {
    let hash = cx.node.read::<Hash>(cx.arg(1))?;
    let values = cx
        .args(2)
        .iter()
        .map(|field| bulk(hash.and_then(|hash| hash.field(field))));
    Ok(Reply::array(values.collect()))
}

fn list(cx: &Context<'_>, show: impl Fn(&(Bytes, Text), &mut Vec<Reply>)) -> Outcome {
    let mut replies = Vec::new();
    if let Some(hash) = cx.node.read::<Hash>(cx.arg(1))? {
        hash.iter().for_each(|pair| show(pair, &mut replies));
    }
    Ok(Reply::array(replies))
}

pub(super) fn hgetall(cx: &mut Context<'_>) -> Outcome {
    list(cx, |(field, value), replies| {
        replies.extend([Reply::Bulk(field.clone()), Reply::Bulk(value.to_bytes())]);
    })
}

pub(super) fn hkeys(cx: &mut Context<'_>) -> Outcome {
    list(cx, |(field, _), replies| {
        replies.push(Reply::Bulk(field.clone()))
    })
}

pub(super) fn hvals(cx: &mut Context<'_>) -> Outcome {
    list(cx, |(_, value), replies| {
        replies.push(Reply::Bulk(value.to_bytes()))
    })
}

pub(super) fn hdel(cx: &mut Context<'_>) -> Outcome {
    let fields = cx.args(2);
    let removed = cx.node.change(cx.arg(1), |hash: &mut Hash| {
        let removed = fields.iter().filter(|field| hash.remove(field)).count() as i64;
        (removed, removed > 0)
    })?;
    Ok(Reply::Int(removed))
}

pub(super) fn hexists(cx: &mut Context<'_>) -> Outcome {
    let hash = cx.node.read::<Hash>(cx.arg(1))?;
    Ok(Reply::Int(i64::from(
        hash.is_some_and(|hash| hash.field(cx.arg(2)).is_some()),
    )))
}

pub(super) fn hlen(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(
        cx.node.read::<Hash>(cx.arg(1))?.map_or(0, Hash::len) as i64,
    ))
}

pub(super) fn hstrlen(cx: &mut Context<'_>) -> Outcome {
    let hash = cx.node.read::<Hash>(cx.arg(1))?;
    let value = hash.and_then(|hash| hash.field(cx.arg(2)));
    Ok(Reply::Int(value.map_or(0, Text::size) as i64))
}

pub(super) fn hincrby(cx: &mut Context<'_>) -> Outcome {
    let amount = cx.integer(3)?;
    let field = cx.arg(2);
    let old = cx
        .node
        .read::<Hash>(cx.arg(1))?
        .and_then(|hash| hash.field(field));
    let old = match old {
        None => 0,
        Some(text) => text.as_int().ok_or("ERR hash value is not an integer")?,
    };
    let new = old
        .checked_add(amount)
        .ok_or("ERR increment or decrement would overflow")?;
    cx.node.change(cx.arg(1), |hash: &mut Hash| {
        (hash.insert(field, Text::Int(new)), true)
    })?;
    Ok(Reply::Int(new))
}

pub(super) fn hincrbyfloat(cx: &mut Context<'_>) -> Outcome {
    let field = cx.arg(2);
    let amount = cx.arg(3);
    let key = cx.arg(1);
    let parsed = Extended::parse(amount).ok_or(Failure::NOT_FLOAT)?;
    if parsed.is_infinite() {
        return Err("ERR value is NaN or Infinity".into());
    }
    let old = cx
        .node
        .read::<Hash>(key)?
        .and_then(|hash| hash.field(field));
    let old = old.map_or_else(|| Bytes::from("0"), Text::to_bytes);
    let new = sum_of_floats(cx, &old, amount, "ERR hash value is not a float")?;
    let text = Text::from(&new);
    cx.node
        .change(key, |hash: &mut Hash| (hash.insert(field, text), true))?;
    Ok(Reply::Bulk(new))
}
