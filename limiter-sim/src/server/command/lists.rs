//! Lists.

use super::context::{Context, Outcome, is};
use crate::server::number::parse_integer;
use crate::server::reply::Failure;
use crate::server::value::{List, Text, Value};
use crate::server::{Reply, Version};

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

fn push(cx: &mut Context<'_>, end: End, only_if_present: bool) -> Outcome {
    let words = cx.args(2);
    let key = cx.arg(1);
    if cx.node.read::<List>(key)?.is_none() && only_if_present {
        return Ok(Reply::Int(0));
    }
    let len = cx.node.change(key, |list: &mut List| {
        for word in words {
            match end {
                End::Left => list.elements().push_front(Text::from(word)),
                End::Right => list.elements().push_back(Text::from(word)),
            }
        }
        (list.len() as i64, true)
    })?;
    Ok(Reply::Int(len))
}

pub(super) fn lpush(cx: &mut Context<'_>) -> Outcome {
    push(cx, End::Left, false)
}

pub(super) fn rpush(cx: &mut Context<'_>) -> Outcome {
    push(cx, End::Right, false)
}

pub(super) fn lpushx(cx: &mut Context<'_>) -> Outcome {
    push(cx, End::Left, true)
}

pub(super) fn rpushx(cx: &mut Context<'_>) -> Outcome {
    push(cx, End::Right, true)
}

fn pop(cx: &mut Context<'_>, end: End) -> Outcome {
    let key = cx.arg(1);
    let count = match cx.args(2) {
        [] => None,
        [word] => {
            let count = parse_integer(word).and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or("ERR value is out of range, must be positive")?)
        }
        _ => return Err(cx.wrong_arity()),
    };
    let Some(list) = cx.node.read::<List>(key)? else {
        return Ok(if count.is_some() {
            Reply::NilArray
        } else {
            Reply::Nil
        });
    };
    if count == Some(0) {
        return Ok(Reply::array(Vec::new()));
    }
    let wanted = count.unwrap_or(1).min(list.len());
    let popped = cx.node.change(key, |list: &mut List| {
        let elements = list.elements();
        let popped = (0..wanted).filter_map(|_| match end {
            End::Left => elements.pop_front(),
            End::Right => elements.pop_back(),
        });
        (
            popped
                .map(|text| Reply::Bulk(text.to_bytes()))
                .collect::<Vec<_>>(),
            true,
        )
    })?;
    match count {
        Some(_) => Ok(Reply::array(popped)),
        None => Ok(popped.into_iter().next().unwrap_or(Reply::Nil)),
    }
}

pub(super) fn lpop(cx: &mut Context<'_>) -> Outcome {
    pop(cx, End::Left)
}

pub(super) fn rpop(cx: &mut Context<'_>) -> Outcome {
    pop(cx, End::Right)
}

pub(super) fn llen(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(
        cx.node.read::<List>(cx.arg(1))?.map_or(0, List::len) as i64,
    ))
}

/// The positions from `start` to `end`, both counted from the end if negative.
pub(super) fn range(start: i64, end: i64, len: usize) -> std::ops::Range<usize> {
    let len = len as i64;
    let from_end = |at: i64| if at < 0 { at.saturating_add(len) } else { at };
    let (start, end) = (from_end(start).max(0), from_end(end).min(len - 1));
    if start > end || start >= len {
        0..0
    } else {
        start as usize..end as usize + 1
    }
}

pub(super) fn lrange(cx: &mut Context<'_>) -> Outcome {
    let (start, end) = (cx.integer(2)?, cx.integer(3)?);
    let Some(list) = cx.node.read::<List>(cx.arg(1))? else {
        return Ok(Reply::array(Vec::new()));
    };
    let range = range(start, end, list.len());
    let elements = list.iter().skip(range.start).take(range.len());
    Ok(Reply::array(
        elements.map(|text| Reply::Bulk(text.to_bytes())).collect(),
    ))
}

/// The position that an index means, if there is one.
fn position(index: i64, len: usize) -> Option<usize> {
    let at = if index < 0 {
        index.saturating_add(len as i64)
    } else {
        index
    };
    usize::try_from(at).ok().filter(|at| *at < len)
}

pub(super) fn lindex(cx: &mut Context<'_>) -> Outcome {
    let Some(list) = cx.node.read::<List>(cx.arg(1))? else {
        return Ok(Reply::Nil);
    };
    let index = cx.integer(2)?;
    let element = position(index, list.len()).and_then(|at| list.iter().nth(at));
    Ok(element.map_or(Reply::Nil, |text| Reply::Bulk(text.to_bytes())))
}

pub(super) fn ltrim(cx: &mut Context<'_>) -> Outcome {
    let (start, end) = (cx.integer(2)?, cx.integer(3)?);
    cx.node.change(cx.arg(1), |list: &mut List| {
        let range = range(start, end, list.len());
        let elements = list.elements();
        elements.truncate(range.end);
        elements.drain(..range.start);
        ((), true)
    })?;
    Ok(Reply::ok())
}

pub(super) fn lset(cx: &mut Context<'_>) -> Outcome {
    let list = cx.node.read::<List>(cx.arg(1))?.ok_or("ERR no such key")?;
    let len = list.len();
    let mut index = cx.integer(2)?;
    if cx.version() > Version::Redis70 {
        // Small lists take the low 32 bits.
        index = i64::from(index as i32);
    }
    let at = position(index, len).ok_or("ERR index out of range")?;
    let text = Text::from(cx.arg(3));
    cx.node.change(cx.arg(1), |list: &mut List| {
        list.elements()[at] = text;
        ((), true)
    })?;
    Ok(Reply::ok())
}

pub(super) fn lrem(cx: &mut Context<'_>) -> Outcome {
    let count = cx.integer(2)?;
    if count == i64::MIN && cx.version() > Version::Redis70 {
        let bound = i64::MAX;
        return Err(
            format!("ERR value is out of range, value must between -{bound} and {bound}").into(),
        );
    }
    let unwanted = Text::from(cx.arg(3));
    let most = if count == 0 {
        usize::MAX
    } else {
        usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX)
    };
    let removed = cx.node.change(cx.arg(1), |list: &mut List| {
        let found = |(at, text): (usize, &Text)| (*text == unwanted).then_some(at);
        let mut places: Vec<usize> = if count < 0 {
            list.iter()
                .enumerate()
                .rev()
                .filter_map(found)
                .take(most)
                .collect()
        } else {
            list.iter()
                .enumerate()
                .filter_map(found)
                .take(most)
                .collect()
        };
        places.sort_unstable_by(|a, b| b.cmp(a));
        for at in &places {
            list.elements().remove(*at);
        }
        (places.len() as i64, !places.is_empty())
    })?;
    Ok(Reply::Int(removed))
}

pub(super) fn linsert(cx: &mut Context<'_>) -> Outcome {
    let after = match cx.arg(2) {
        word if is(word, "BEFORE") => 0,
        word if is(word, "AFTER") => 1,
        _ => return Err(Failure::syntax()),
    };
    if !matches!(cx.node.value(cx.arg(1)), None | Some(Value::List(_))) {
        return Err(Failure::wrong_type());
    }
    let pivot = Text::from(cx.arg(3));
    let text = Text::from(cx.arg(4));
    let Some(list) = cx.node.read::<List>(cx.arg(1))? else {
        return Ok(Reply::Int(0));
    };
    let Some(at) = list.iter().position(|element| *element == pivot) else {
        return Ok(Reply::Int(-1));
    };
    let len = cx.node.change(cx.arg(1), |list: &mut List| {
        list.elements().insert(at + after, text);
        (list.len() as i64, true)
    })?;
    Ok(Reply::Int(len))
}
