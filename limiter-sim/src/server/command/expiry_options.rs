//! The deadline that `SET`, `GETEX` and their kin take as an option.

use super::context::{Context, integer, is};
use crate::server::effect::Deadline;
use crate::server::reply::Failure;
use crate::server::{Bytes, Version};

/// How a deadline was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Ex,
    Px,
    ExAt,
    PxAt,
}

impl Form {
    pub(super) fn from_option(word: &[u8]) -> Option<Self> {
        let forms = [
            ("EX", Self::Ex),
            ("PX", Self::Px),
            ("EXAT", Self::ExAt),
            ("PXAT", Self::PxAt),
        ];
        forms
            .iter()
            .find(|(name, _)| is(word, name))
            .map(|(_, form)| *form)
    }

    fn in_seconds(self) -> bool {
        matches!(self, Self::Ex | Self::ExAt)
    }

    fn is_relative(self) -> bool {
        matches!(self, Self::Ex | Self::Px)
    }
}

/// The deadline that a number in this form means for a command that refuses what is not positive.
pub(super) fn positive_deadline(
    cx: &Context<'_>,
    form: Form,
    word: &Bytes,
) -> Result<Deadline, Failure> {
    let number = integer(word)?;
    let at_ms = absolute_ms(cx, form, number)
        .filter(|_| number > 0)
        .ok_or_else(|| invalid(cx))?;
    if form.is_relative() {
        Ok(cx
            .node
            .deadline_in(at_ms.wrapping_sub(cx.node.now_ms()), at_ms))
    } else {
        Ok(Deadline::At(at_ms))
    }
}

fn absolute_ms(cx: &Context<'_>, form: Form, number: i64) -> Option<i64> {
    let ms = if form.in_seconds() {
        number.checked_mul(1_000)?
    } else {
        number
    };
    if form.is_relative() {
        ms.checked_add(cx.node.now_ms())
    } else {
        Some(ms)
    }
}

/// The error of an impossible deadline.
pub(super) fn invalid(cx: &Context<'_>) -> Failure {
    match cx.version() {
        Version::Redis62 => format!("ERR invalid expire time in {}", cx.name()).into(),
        _ => format!("ERR invalid expire time in '{}' command", cx.name()).into(),
    }
}
