//! Strings.

use super::context::{Context, Outcome, is};
use super::expiry_options::{Form, positive_deadline};
use crate::server::effect::Deadline;
use crate::server::extended::{Extended, Sum};
use crate::server::reply::Failure;
use crate::server::value::{Text, Value};
use crate::server::{Bytes, Reply, Version};

const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
const MAX_LEN: i64 = 512 << 20;

fn bulk(text: Option<&Text>) -> Reply {
    text.map_or(Reply::Nil, |text| Reply::Bulk(text.to_bytes()))
}

pub(super) fn get(cx: &mut Context<'_>) -> Outcome {
    Ok(bulk(cx.node.text(cx.arg(1))?))
}

/// The options of `SET`.
#[derive(Default)]
struct SetOptions<'a> {
    if_absent: bool,
    if_present: bool,
    if_equal: Option<&'a Bytes>,
    keep_deadline: bool,
    get: bool,
    deadline: Option<(Form, &'a Bytes)>,
}

impl<'a> SetOptions<'a> {
    fn parse(words: &'a [Bytes], version: Version) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut at = 0;
        while at < words.len() {
            let next = words.get(at + 1);
            at += options
                .take(&words[at], next, version)
                .ok_or_else(Failure::syntax)?;
        }
        Ok(options)
    }

    /// Takes one option; says how many words it had.
    fn take(&mut self, word: &[u8], next: Option<&'a Bytes>, version: Version) -> Option<usize> {
        let old_get = version == Version::Redis62;
        let conditional = self.if_equal.is_some();
        if is(word, "NX") && !(self.if_present || conditional || old_get && self.get) {
            self.if_absent = true;
        } else if is(word, "XX") && !self.if_absent && !conditional {
            self.if_present = true;
        } else if is(word, "GET") && !(old_get && self.if_absent) {
            self.get = true;
        } else if is(word, "KEEPTTL") && self.deadline.is_none() {
            self.keep_deadline = true;
        } else if version.is_valkey()
            && is(word, "IFEQ")
            && !self.if_absent
            && !self.if_present
            && !conditional
        {
            self.if_equal = Some(next?);
            return Some(2);
        } else if let Some(form) = Form::from_option(word).filter(|_| !self.keep_deadline) {
            let other = self.deadline.is_some_and(|(taken, _)| taken != form);
            self.deadline = Some((form, next?)).filter(|_| !other);
            return self.deadline.map(|_| 2);
        } else {
            return None;
        }
        Some(1)
    }
}

pub(super) fn set(cx: &mut Context<'_>) -> Outcome {
    let options = SetOptions::parse(cx.args(3), cx.version())?;
    let key = cx.arg(1);
    let deadline = match options.deadline {
        Some((form, word)) => positive_deadline(cx, form, word)?,
        None if options.keep_deadline => Deadline::Keep,
        None => Deadline::Never,
    };
    let old = if options.get {
        Some(bulk(cx.node.text(key)?))
    } else {
        None
    };
    let present = cx.node.entry(key).is_some();
    let unequal = match options.if_equal {
        Some(wanted) => cx
            .node
            .text(key)?
            .is_none_or(|text| text.to_bytes() != *wanted),
        None => false,
    };
    if options.if_absent && present || options.if_present && !present || unequal {
        return Ok(old.unwrap_or(Reply::Nil));
    }
    store(cx, key, cx.arg(2), deadline);
    Ok(old.unwrap_or_else(Reply::ok))
}

/// Sets a string. Valkey takes a deadline that is not in the future for a deletion.
fn store(cx: &mut Context<'_>, key: &Bytes, value: &Bytes, deadline: Deadline) {
    let past = matches!(deadline, Deadline::At(at) if at <= cx.node.now_ms());
    if cx.version().is_valkey() && past {
        cx.node.delete(key);
        return;
    }
    cx.node.put(key, Value::Text(Text::from(value)), deadline);
}

pub(super) fn setnx(cx: &mut Context<'_>) -> Outcome {
    if cx.node.entry(cx.arg(1)).is_some() {
        return Ok(Reply::Int(0));
    }
    store(cx, cx.arg(1), cx.arg(2), Deadline::Never);
    Ok(Reply::Int(1))
}

pub(super) fn setex(cx: &mut Context<'_>) -> Outcome {
    set_with(cx, Form::Ex)
}

pub(super) fn psetex(cx: &mut Context<'_>) -> Outcome {
    set_with(cx, Form::Px)
}

fn set_with(cx: &mut Context<'_>, form: Form) -> Outcome {
    let deadline = positive_deadline(cx, form, cx.arg(2))?;
    store(cx, cx.arg(1), cx.arg(3), deadline);
    Ok(Reply::ok())
}

pub(super) fn getset(cx: &mut Context<'_>) -> Outcome {
    let old = bulk(cx.node.text(cx.arg(1))?);
    store(cx, cx.arg(1), cx.arg(2), Deadline::Never);
    Ok(old)
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
