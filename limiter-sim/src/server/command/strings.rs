//! Strings.

use super::context::{Context, Outcome, is};
use super::expiry_options::{Form, positive_deadline};
use super::set::store;
use crate::server::effect::Deadline;
use crate::server::reply::Failure;
use crate::server::value::Text;
use crate::server::{Bytes, Reply, Version};

const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
const MAX_LEN: i64 = 512 << 20;

pub(super) fn bulk(text: Option<&Text>) -> Reply {
    text.map_or(Reply::Nil, |text| Reply::Bulk(text.to_bytes()))
}

pub(super) fn get(cx: &mut Context<'_>) -> Outcome {
    Ok(bulk(cx.node.text(cx.arg(1))?))
}

pub(super) fn getdel(cx: &mut Context<'_>) -> Outcome {
    let old = bulk(cx.node.text(cx.arg(1))?);
    cx.node.delete(cx.arg(1));
    Ok(old)
}

pub(super) fn getex(cx: &mut Context<'_>) -> Outcome {
    let words = cx.args(2);
    let mut persist = false;
    let mut form = None;
    let mut at = 0;
    while at < words.len() {
        if is(&words[at], "PERSIST") && form.is_none() {
            persist = true;
            at += 1;
            continue;
        }
        let taken = Form::from_option(&words[at])
            .filter(|_| !persist)
            .ok_or_else(Failure::syntax)?;
        let word = words.get(at + 1).ok_or_else(Failure::syntax)?;
        if form.is_some_and(|(other, _)| other != taken) {
            return Err(Failure::syntax());
        }
        form = Some((taken, word));
        at += 2;
    }
    let key = cx.arg(1);
    let deadline = |cx: &Context<'_>| {
        form.map(|(form, word)| positive_deadline(cx, form, word))
            .transpose()
    };
    if cx.version().is_valkey() {
        deadline(cx)?;
    }
    let old = bulk(cx.node.text(key)?);
    if old == Reply::Nil {
        return Ok(old);
    }
    if let Some(deadline) = deadline(cx)? {
        if matches!(deadline, Deadline::At(at_ms) if at_ms <= cx.node.now_ms()) {
            cx.node.delete(key);
        } else {
            cx.node.set_deadline(key, deadline);
        }
    } else if persist
        && cx
            .node
            .entry(key)
            .is_some_and(|entry| entry.deadline_ms().is_some())
    {
        cx.node.set_deadline(key, Deadline::Never);
    }
    Ok(old)
}

pub(super) fn append(cx: &mut Context<'_>) -> Outcome {
    let key = cx.arg(1);
    let mut whole = cx
        .node
        .text(key)?
        .map_or_else(Vec::new, |text| text.to_bytes().to_vec());
    whole.extend_from_slice(cx.arg(2));
    if whole.len() as i64 > MAX_LEN {
        return Err(TOO_LONG.into());
    }
    let len = whole.len() as i64;
    cx.node.put_text(key, Text::from(Bytes::from(whole)));
    Ok(Reply::Int(len))
}

pub(super) fn strlen(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(
        cx.node
            .text(cx.arg(1))?
            .map_or(0, |text| text.size() as i64),
    ))
}

pub(super) fn mget(cx: &mut Context<'_>) -> Outcome {
    let read = |key: &Bytes| cx.node.text(key).map_or(Reply::Nil, bulk);
    Ok(Reply::array(cx.args(1).iter().map(read).collect()))
}

fn set_pairs(cx: &mut Context<'_>) {
    for pair in cx.args(1).chunks_exact(2) {
        store(cx, &pair[0], &pair[1], Deadline::Never);
    }
}

pub(super) fn mset(cx: &mut Context<'_>) -> Outcome {
    if cx.argc().is_multiple_of(2) {
        return Err(odd_pairs(cx));
    }
    set_pairs(cx);
    Ok(Reply::ok())
}

pub(super) fn msetnx(cx: &mut Context<'_>) -> Outcome {
    if cx.argc().is_multiple_of(2) {
        return Err(odd_pairs(cx));
    }
    if cx
        .args(1)
        .iter()
        .step_by(2)
        .any(|key| cx.node.entry(key).is_some())
    {
        return Ok(Reply::Int(0));
    }
    set_pairs(cx);
    Ok(Reply::Int(1))
}

fn odd_pairs(cx: &Context<'_>) -> Failure {
    match cx.version() {
        Version::Redis62 => "ERR wrong number of arguments for MSET".into(),
        _ => cx.wrong_arity(),
    }
}

pub(super) fn setrange(cx: &mut Context<'_>) -> Outcome {
    let key = cx.arg(1);
    let offset = cx.integer(2)?;
    if offset < 0 {
        return Err("ERR offset is out of range".into());
    }
    let value = cx.arg(3);
    let old = cx.node.text(key)?.map(Text::to_bytes);
    if value.is_empty() {
        return Ok(Reply::Int(old.map_or(0, |old| old.len() as i64)));
    }
    let end = offset
        .checked_add(value.len() as i64)
        .filter(|end| *end <= MAX_LEN);
    let end = end.ok_or(TOO_LONG)? as usize;
    let mut whole = old.map_or_else(Vec::new, |old| old.to_vec());
    whole.resize(whole.len().max(end), 0);
    whole[offset as usize..end].copy_from_slice(value);
    let len = whole.len() as i64;
    cx.node.put_text(key, Text::from(Bytes::from(whole)));
    Ok(Reply::Int(len))
}

pub(super) fn getrange(cx: &mut Context<'_>) -> Outcome {
    let (start, end) = (cx.integer(2)?, cx.integer(3)?);
    let Some(text) = cx.node.text(cx.arg(1))? else {
        return Ok(Reply::Bulk(Bytes::default()));
    };
    let bytes = text.to_bytes();
    let len = bytes.len() as i64;
    if start < 0 && end < 0 && start > end {
        return Ok(Reply::Bulk(Bytes::default()));
    }
    let from_end = |at: i64| {
        if at < 0 {
            at.saturating_add(len).max(0)
        } else {
            at
        }
    };
    let (start, end) = (from_end(start), from_end(end).min(len - 1));
    if start > end || len == 0 {
        return Ok(Reply::Bulk(Bytes::default()));
    }
    Ok(Reply::Bulk(Bytes::from(
        &bytes[start as usize..=end as usize],
    )))
}
