//! Keys of any type, and their deadlines.

use super::context::{Context, Outcome, integer, is};
use super::expiry_options::invalid;
use crate::server::effect::Deadline;
use crate::server::glob::matches;
use crate::server::number::parse_integer;
use crate::server::reply::Failure;
use crate::server::{Bytes, Reply};

pub(super) fn del(cx: &mut Context<'_>) -> Outcome {
    let mut removed = 0;
    for key in cx.args(1) {
        removed += i64::from(cx.node.delete(key));
    }
    Ok(Reply::Int(removed))
}

pub(super) fn exists(cx: &mut Context<'_>) -> Outcome {
    let found = cx.args(1).iter().filter(|key| cx.node.entry(key).is_some());
    Ok(Reply::Int(found.count() as i64))
}

pub(super) fn type_of(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::status(
        cx.node
            .value(cx.arg(1))
            .map_or("none", |value| value.type_name()),
    ))
}

/// The conditions of `EXPIRE` from Redis 7.0 on.
#[derive(Default)]
struct Conditions {
    none: bool,
    some: bool,
    greater: bool,
    less: bool,
}

impl Conditions {
    fn parse(cx: &Context<'_>) -> Result<Self, Failure> {
        let mut conditions = Self::default();
        for word in cx.args(3) {
            match () {
                () if is(word, "NX") => conditions.none = true,
                () if is(word, "XX") => conditions.some = true,
                () if is(word, "GT") => conditions.greater = true,
                () if is(word, "LT") => conditions.less = true,
                () => return Err(Failure::about("ERR Unsupported option ", word, "")),
            }
        }
        if conditions.none && (conditions.some || conditions.greater || conditions.less) {
            return Err(
                "ERR NX and XX, GT or LT options at the same time are not compatible".into(),
            );
        }
        if conditions.greater && conditions.less {
            return Err("ERR GT and LT options at the same time are not compatible".into());
        }
        Ok(conditions)
    }

    /// Whether the deadline may be set, where the key has this one.
    fn allow(&self, old: Option<i64>, new: i64) -> bool {
        !(self.none && old.is_some()
            || self.some && old.is_none()
            || self.greater && old.is_none_or(|old| new <= old)
            || self.less && old.is_some_and(|old| new >= old))
    }
}

pub(super) fn expire(cx: &mut Context<'_>) -> Outcome {
    expire_at(cx, true, true)
}

pub(super) fn pexpire(cx: &mut Context<'_>) -> Outcome {
    expire_at(cx, false, true)
}

pub(super) fn expireat(cx: &mut Context<'_>) -> Outcome {
    expire_at(cx, true, false)
}

pub(super) fn pexpireat(cx: &mut Context<'_>) -> Outcome {
    expire_at(cx, false, false)
}

fn expire_at(cx: &mut Context<'_>, in_seconds: bool, relative: bool) -> Outcome {
    let conditions = Conditions::parse(cx)?;
    let number = cx.integer(2)?;
    let now_ms = cx.node.now_ms();
    let ms = if in_seconds {
        number.checked_mul(1_000)
    } else {
        Some(number)
    };
    let at_ms = ms.and_then(|ms| {
        if relative {
            ms.checked_add(now_ms)
        } else {
            Some(ms)
        }
    });
    let at_ms = at_ms.ok_or_else(|| invalid(cx))?;
    let key = cx.arg(1);
    let Some(entry) = cx.node.entry(key) else {
        return Ok(Reply::Int(0));
    };
    if !conditions.allow(entry.deadline_ms(), at_ms) {
        return Ok(Reply::Int(0));
    }
    if at_ms <= now_ms {
        cx.node.delete(key);
    } else {
        let deadline = if relative {
            cx.node.deadline_in(at_ms - now_ms, at_ms)
        } else {
            Deadline::At(at_ms)
        };
        cx.node.set_deadline(key, deadline);
    }
    Ok(Reply::Int(1))
}

/// The rest of a key's life, or its end, as one of the `TTL` commands tells it.
fn deadline(cx: &Context<'_>, tell: impl Fn(i64) -> i64) -> Outcome {
    let Some(entry) = cx.node.entry(cx.arg(1)) else {
        return Ok(Reply::Int(-2));
    };
    Ok(Reply::Int(entry.deadline_ms().map_or(-1, tell)))
}

pub(super) fn ttl(cx: &mut Context<'_>) -> Outcome {
    let now_ms = cx.node.now_ms();
    deadline(cx, |at| {
        at.saturating_sub(now_ms).max(0).saturating_add(500) / 1_000
    })
}

pub(super) fn pttl(cx: &mut Context<'_>) -> Outcome {
    let now_ms = cx.node.now_ms();
    deadline(cx, |at| at.saturating_sub(now_ms).max(0))
}

pub(super) fn expiretime(cx: &mut Context<'_>) -> Outcome {
    deadline(cx, |at| at.saturating_add(500) / 1_000)
}

pub(super) fn pexpiretime(cx: &mut Context<'_>) -> Outcome {
    deadline(cx, |at| at)
}

pub(super) fn persist(cx: &mut Context<'_>) -> Outcome {
    let key = cx.arg(1);
    let has_deadline = cx
        .node
        .entry(key)
        .is_some_and(|entry| entry.deadline_ms().is_some());
    if has_deadline {
        cx.node.set_deadline(key, Deadline::Never);
    }
    Ok(Reply::Int(i64::from(has_deadline)))
}

/// Moves a key; says whether the target was free.
fn move_key(cx: &mut Context<'_>, overwrite: bool) -> Result<bool, Failure> {
    let (from, to) = (cx.arg(1), cx.arg(2));
    let entry = cx.node.entry(from).ok_or("ERR no such key")?;
    let value = entry.value().clone();
    let deadline = entry.deadline_ms().map_or(Deadline::Never, Deadline::At);
    let free = cx.node.entry(to).is_none();
    if from != to && (free || overwrite) {
        cx.node.put(to, value, deadline);
        cx.node.delete(from);
    }
    Ok(free)
}

pub(super) fn rename(cx: &mut Context<'_>) -> Outcome {
    move_key(cx, true)?;
    Ok(Reply::ok())
}

pub(super) fn renamenx(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(i64::from(move_key(cx, false)?)))
}

/// One pass over all keys.
pub(super) fn scan(cx: &mut Context<'_>) -> Outcome {
    if parse_integer(cx.arg(1)).is_none_or(|cursor| cursor < 0) {
        return Err("ERR invalid cursor".into());
    }
    let mut pattern: Option<&Bytes> = None;
    let mut kind: Option<&Bytes> = None;
    for pair in cx.args(2).chunks(2) {
        match pair {
            [word, count] if is(word, "COUNT") => {
                if integer(count)? < 1 {
                    return Err(Failure::syntax());
                }
            }
            [word, wanted] if is(word, "MATCH") => pattern = Some(wanted),
            [word, wanted] if is(word, "TYPE") => kind = Some(wanted),
            _ => return Err(Failure::syntax()),
        }
    }
    let now_ms = cx.node.now_ms();
    let entries = cx.node.keyspace().filter(|entry| {
        !entry.is_expired(now_ms)
            && pattern.is_none_or(|pattern| matches(pattern, entry.key()))
            && kind.is_none_or(|kind| is(kind, entry.value().type_name()))
    });
    let keys = entries
        .map(|entry| Reply::Bulk(entry.key().clone()))
        .collect();
    Ok(Reply::array(vec![
        Reply::Bulk("0".into()),
        Reply::array(keys),
    ]))
}

pub(super) fn keys(cx: &mut Context<'_>) -> Outcome {
    let now_ms = cx.node.now_ms();
    let alive = cx.node.keyspace().filter(|entry| !entry.is_expired(now_ms));
    let matching = alive.filter(|entry| matches(cx.arg(1), entry.key()));
    Ok(Reply::array(
        matching
            .map(|entry| Reply::Bulk(entry.key().clone()))
            .collect(),
    ))
}

pub(super) fn dbsize(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(cx.node.keyspace().count() as i64))
}

pub(super) fn flush(cx: &mut Context<'_>) -> Outcome {
    match cx.args(1) {
        [] => {}
        [mode] if is(mode, "SYNC") || is(mode, "ASYNC") => {}
        _ => return Err(Failure::syntax()),
    }
    cx.node.clear();
    Ok(Reply::ok())
}
