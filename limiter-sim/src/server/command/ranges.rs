//! The many ways to ask for a part of a sorted set.

use std::ops::Range;

use super::context::{Context, Outcome, integer, is};
use super::lists::range;
use super::sorted_sets::score_text;
use crate::server::number::parse_c_float;
use crate::server::reply::Failure;
use crate::server::value::SortedSet;
use crate::server::{Bytes, Reply, Version};

/// Scores between two bounds, each of which may be excluded by `(`.
pub(super) struct ScoreRange {
    min: f64,
    max: f64,
    without_min: bool,
    without_max: bool,
}

impl ScoreRange {
    pub(super) fn parse(min: &Bytes, max: &Bytes, version: Version) -> Result<Self, Failure> {
        let bound = |word: &Bytes| match &**word {
            [b'(', number @ ..] => Some((bare(number, version)?, true)),
            number => Some((bare(number, version)?, false)),
        };
        let not_float = || Failure::from("ERR min or max is not a float");
        let (min, without_min) = bound(min).ok_or_else(not_float)?;
        let (max, without_max) = bound(max).ok_or_else(not_float)?;
        Ok(Self {
            min,
            max,
            without_min,
            without_max,
        })
    }

    /// The positions of the members in the range.
    pub(super) fn positions(&self, zset: &SortedSet) -> Range<usize> {
        let below = |score: f64| score < self.min || self.without_min && score == self.min;
        let above = |score: f64| score > self.max || self.without_max && score == self.max;
        let start = zset.iter().take_while(|(score, _)| below(*score)).count();
        let end = zset.iter().take_while(|(score, _)| !above(*score)).count();
        start..end.max(start)
    }
}

/// A bound: nothing at all is 0. Until Redis 7.0 it is read by `strtod`, with blanks and hexadecimal digits.
fn bare(number: &[u8], version: Version) -> Option<f64> {
    let number = if version <= Version::Redis70 {
        number.trim_ascii_start()
    } else {
        number
    };
    if number.is_empty() {
        return Some(0.0);
    }
    let is_hex = number.contains(&b'x') || number.contains(&b'X');
    let number = parse_c_float(std::str::from_utf8(number).ok()?)?;
    Some(number).filter(|number| !(number.is_nan() || is_hex && version > Version::Redis70))
}

const NO_LIMIT: &str =
    "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
}

/// What is asked for.
struct Query {
    by: By,
    reversed: bool,
    with_scores: bool,
    limit: Option<(i64, i64)>,
}

pub(super) fn zrange(cx: &mut Context<'_>) -> Outcome {
    let mut query = Query {
        by: By::Rank,
        reversed: false,
        with_scores: false,
        limit: None,
    };
    let words = cx.args(4);
    let mut at = 0;
    while at < words.len() {
        let rest = words.len() - at - 1;
        match &words[at] {
            word if is(word, "WITHSCORES") => query.with_scores = true,
            word if is(word, "BYSCORE") && query.by == By::Rank => query.by = By::Score,
            word if is(word, "BYLEX") => cx.node.note_unmodelled("ZRANGE BYLEX"),
            word if is(word, "REV") && !query.reversed => query.reversed = true,
            word if is(word, "LIMIT") && rest >= 2 => {
                query.limit = Some((integer(&words[at + 1])?, integer(&words[at + 2])?));
                at += 2;
            }
            _ => return Err(Failure::syntax()),
        }
        at += 1;
    }
    // Redis takes a count of -1 for "no limit given".
    if query.by == By::Rank && query.limit.is_some_and(|(_, count)| count != -1) {
        return Err(NO_LIMIT.into());
    }
    answer(cx, &query)
}

pub(super) fn zrevrange(cx: &mut Context<'_>) -> Outcome {
    let with_scores = match cx.args(4) {
        [] => false,
        words if words.iter().all(|word| is(word, "WITHSCORES")) => true,
        _ => return Err(Failure::syntax()),
    };
    answer(
        cx,
        &Query {
            by: By::Rank,
            reversed: true,
            with_scores,
            limit: None,
        },
    )
}

pub(super) fn zrangebyscore(cx: &mut Context<'_>) -> Outcome {
    by_score(cx, false)
}

pub(super) fn zrevrangebyscore(cx: &mut Context<'_>) -> Outcome {
    by_score(cx, true)
}

fn by_score(cx: &mut Context<'_>, reversed: bool) -> Outcome {
    let mut query = Query {
        by: By::Score,
        reversed,
        with_scores: false,
        limit: None,
    };
    let words = cx.args(4);
    let mut at = 0;
    while at < words.len() {
        match &words[at] {
            word if is(word, "WITHSCORES") => query.with_scores = true,
            word if is(word, "LIMIT") && words.len() - at > 2 => {
                query.limit = Some((integer(&words[at + 1])?, integer(&words[at + 2])?));
                at += 2;
            }
            _ => return Err(Failure::syntax()),
        }
        at += 1;
    }
    answer(cx, &query)
}

fn answer(cx: &mut Context<'_>, query: &Query) -> Outcome {
    let chosen = match query.by {
        By::Rank => {
            let (start, end) = (cx.integer(2)?, cx.integer(3)?);
            members(cx, query, |zset| {
                let len = zset.len();
                let range = range(start, end, len);
                match query.reversed {
                    true if !range.is_empty() => len - range.end..len - range.start,
                    _ => range,
                }
            })?
        }
        By::Score => {
            let (min, max) = if query.reversed { (3, 2) } else { (2, 3) };
            let wanted = ScoreRange::parse(cx.arg(min), cx.arg(max), cx.version())?;
            let all = members(cx, query, |zset| wanted.positions(zset))?;
            cut(all, query.limit)
        }
    };
    let version = cx.version();
    let mut replies = Vec::with_capacity(chosen.len() * 2);
    for (score, member) in chosen {
        replies.push(Reply::Bulk(member));
        if query.with_scores {
            replies.push(Reply::Bulk(score_text(score, version)));
        }
    }
    Ok(Reply::array(replies))
}

fn members(
    cx: &Context<'_>,
    query: &Query,
    which: impl FnOnce(&SortedSet) -> Range<usize>,
) -> Result<Vec<(f64, Bytes)>, Failure> {
    let Some(zset) = cx.node.read::<SortedSet>(cx.arg(1))? else {
        return Ok(Vec::new());
    };
    let range = which(zset);
    let mut members: Vec<_> = zset
        .iter()
        .skip(range.start)
        .take(range.len())
        .cloned()
        .collect();
    if query.reversed {
        members.reverse();
    }
    Ok(members)
}

/// `LIMIT`: a negative offset gives nothing, a negative count gives all.
fn cut(members: Vec<(f64, Bytes)>, limit: Option<(i64, i64)>) -> Vec<(f64, Bytes)> {
    let Some((offset, count)) = limit else {
        return members;
    };
    let Ok(offset) = usize::try_from(offset) else {
        return Vec::new();
    };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    members.into_iter().skip(offset).take(count).collect()
}
