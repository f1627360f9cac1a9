//! `SET` and its older relatives.

use super::context::{Context, Outcome, is};
use super::expiry_options::{Form, positive_deadline};
use super::strings::bulk;
use crate::server::effect::Deadline;
use crate::server::reply::Failure;
use crate::server::value::{Text, Value};
use crate::server::{Bytes, Reply, Version};

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
pub(super) fn store(cx: &mut Context<'_>, key: &Bytes, value: &Bytes, deadline: Deadline) {
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
