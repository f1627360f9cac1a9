//! Sets.

use super::context::{Context, Outcome};
use crate::server::Reply;
use crate::server::value::{Set, Text};

pub(super) fn sadd(cx: &mut Context<'_>) -> Outcome {
    let members = cx.args(2);
    let added = cx.node.change(cx.arg(1), |set: &mut Set| {
        let added = members
            .iter()
            .filter(|member| set.insert(Text::from(*member)))
            .count() as i64;
        (added, added > 0)
    })?;
    Ok(Reply::Int(added))
}

pub(super) fn srem(cx: &mut Context<'_>) -> Outcome {
    let members = cx.args(2);
    let removed = cx.node.change(cx.arg(1), |set: &mut Set| {
        let removed = members
            .iter()
            .filter(|member| set.remove(&Text::from(*member)))
            .count() as i64;
        (removed, removed > 0)
    })?;
    Ok(Reply::Int(removed))
}

pub(super) fn sismember(cx: &mut Context<'_>) -> Outcome {
    let set = cx.node.read::<Set>(cx.arg(1))?;
    let member = Text::from(cx.arg(2));
    Ok(Reply::Int(i64::from(
        set.is_some_and(|set| set.contains(&member)),
    )))
}

pub(super) fn smismember(cx: &mut Context<'_>) -> Outcome {
    let set = cx.node.read::<Set>(cx.arg(1))?;
    let contains = |member| set.is_some_and(|set| set.contains(&Text::from(member)));
    Ok(Reply::array(
        cx.args(2)
            .iter()
            .map(|member| Reply::Int(i64::from(contains(member))))
            .collect(),
    ))
}

pub(super) fn scard(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(
        cx.node.read::<Set>(cx.arg(1))?.map_or(0, Set::len) as i64,
    ))
}

pub(super) fn smembers(cx: &mut Context<'_>) -> Outcome {
    let set = cx.node.read::<Set>(cx.arg(1))?;
    let members = set.into_iter().flat_map(Set::iter);
    Ok(Reply::array(
        members
            .map(|member| Reply::Bulk(member.to_bytes()))
            .collect(),
    ))
}
