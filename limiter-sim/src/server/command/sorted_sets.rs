//! Sorted sets: members and scores. Ranges are in their own file.

use super::context::{Context, Outcome, is};
use super::lists::range;
use super::ranges::ScoreRange;
use crate::server::number::{format_17g, parse_float, parse_integer, shortest};
use crate::server::reply::Failure;
use crate::server::value::SortedSet;
use crate::server::{Bytes, Reply, Version};

/// A score as the version prints it.
pub(super) fn score_text(score: f64, version: Version) -> Bytes {
    if version <= Version::Redis70 {
        return format_17g(score).into();
    }
    if score == 0.0 && score.is_sign_negative() {
        return "-0".into();
    }
    shortest(score)
}

#[derive(Default)]
struct AddOptions {
    only_new: bool,
    only_old: bool,
    greater: bool,
    less: bool,
    count_changed: bool,
    increment: bool,
}

impl AddOptions {
    /// Reads the options; says where the scores begin.
    fn parse(cx: &Context<'_>) -> (Self, usize) {
        let mut options = Self::default();
        for (at, word) in cx.args(2).iter().enumerate() {
            match () {
                () if is(word, "NX") => options.only_new = true,
                () if is(word, "XX") => options.only_old = true,
                () if is(word, "GT") => options.greater = true,
                () if is(word, "LT") => options.less = true,
                () if is(word, "CH") => options.count_changed = true,
                () if is(word, "INCR") => options.increment = true,
                () => return (options, at + 2),
            }
        }
        (options, cx.argc())
    }

    fn check(&self, pairs: usize) -> Result<(), Failure> {
        if self.only_new && self.only_old {
            return Err("ERR XX and NX options at the same time are not compatible".into());
        }
        if self.greater && (self.only_new || self.less) || self.less && self.only_new {
            return Err("ERR GT, LT, and/or NX options at the same time are not compatible".into());
        }
        if self.increment && pairs > 1 {
            return Err("ERR INCR option supports a single increment-element pair".into());
        }
        Ok(())
    }

    /// The score that a member gets, or nothing if it stays as it is.
    fn score(&self, old: Option<f64>, given: f64) -> Result<Option<f64>, Failure> {
        let Some(old) = old else {
            return Ok(Some(given).filter(|_| !self.only_old));
        };
        if self.only_new {
            return Ok(None);
        }
        let new = if self.increment { old + given } else { given };
        if new.is_nan() {
            return Err("ERR resulting score is not a number (NaN)".into());
        }
        let refused = self.greater && new <= old || self.less && new >= old;
        Ok(Some(new).filter(|_| !refused))
    }
}

pub(super) fn zadd(cx: &mut Context<'_>) -> Outcome {
    let (options, first) = AddOptions::parse(cx);
    add(cx, &options, first)
}

pub(super) fn zincrby(cx: &mut Context<'_>) -> Outcome {
    add(
        cx,
        &AddOptions {
            increment: true,
            ..AddOptions::default()
        },
        2,
    )
}

/// A score; Valkey takes no hexadecimal digits.
fn score(word: &[u8], version: Version) -> Option<f64> {
    let is_hex = word.contains(&b'x') || word.contains(&b'X');
    parse_float(word).filter(|_| !(is_hex && version.is_valkey()))
}

fn add(cx: &mut Context<'_>, options: &AddOptions, first: usize) -> Outcome {
    let pairs = cx.args(first);
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Err(Failure::syntax());
    }
    options.check(pairs.len() / 2)?;
    let version = cx.version();
    let scores = pairs
        .chunks_exact(2)
        .map(|pair| score(&pair[0], version).ok_or(Failure::NOT_FLOAT));
    let scores = scores.collect::<Result<Vec<f64>, _>>()?;
    let members = pairs.iter().skip(1).step_by(2);
    let outcome = cx.node.change(cx.arg(1), |zset: &mut SortedSet| {
        let (mut added, mut updated, mut last) = (0, 0, None);
        for (given, member) in scores.iter().zip(members) {
            let old = zset.score(member);
            last = match options.score(old, *given) {
                Ok(score) => score,
                Err(failure) => return (Err(failure), added + updated > 0),
            };
            if let Some(score) = last {
                added += i64::from(old.is_none());
                updated += i64::from(old.is_some_and(|old| old != score));
                if old != Some(score) {
                    // From 7.0 on small sets hold integers as such, which have no minus zero.
                    let stored = if version > Version::Redis62 {
                        score + 0.0
                    } else {
                        score
                    };
                    zset.insert(member, stored);
                }
            }
        }
        (Ok((added, updated, last)), added + updated > 0)
    })?;
    let (added, updated, last) = outcome?;
    if options.increment {
        return Ok(last.map_or(Reply::Nil, |score| {
            Reply::Bulk(score_text(score, cx.version()))
        }));
    }
    Ok(Reply::Int(if options.count_changed {
        added + updated
    } else {
        added
    }))
}

pub(super) fn zrem(cx: &mut Context<'_>) -> Outcome {
    let members = cx.args(2);
    let removed = cx.node.change(cx.arg(1), |zset: &mut SortedSet| {
        let removed = members.iter().filter(|member| zset.remove(member)).count() as i64;
        (removed, removed > 0)
    })?;
    Ok(Reply::Int(removed))
}

pub(super) fn zcard(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Int(
        cx.node
            .read::<SortedSet>(cx.arg(1))?
            .map_or(0, SortedSet::len) as i64,
    ))
}

pub(super) fn zscore(cx: &mut Context<'_>) -> Outcome {
    let zset = cx.node.read::<SortedSet>(cx.arg(1))?;
    let score = zset.and_then(|zset| zset.score(cx.arg(2)));
    Ok(score.map_or(Reply::Nil, |score| {
        Reply::Bulk(score_text(score, cx.version()))
    }))
}

pub(super) fn zmscore(cx: &mut Context<'_>) -> Outcome {
    let zset = cx.node.read::<SortedSet>(cx.arg(1))?;
    let version = cx.version();
    let score = |member: &Bytes| {
        let score = zset.and_then(|zset| zset.score(member));
        score.map_or(Reply::Nil, |score| Reply::Bulk(score_text(score, version)))
    };
    Ok(Reply::array(cx.args(2).iter().map(score).collect()))
}

fn rank(cx: &mut Context<'_>, reversed: bool) -> Outcome {
    let with_score = match cx.args(3) {
        [] => false,
        [word] if cx.version() >= Version::Redis82 && is(word, "WITHSCORE") => true,
        [_] => return Err(Failure::syntax()),
        _ => return Err(cx.wrong_arity()),
    };
    let zset = cx.node.read::<SortedSet>(cx.arg(1))?;
    let found = zset.and_then(|zset| Some((zset, zset.rank(cx.arg(2))?)));
    let Some((zset, rank)) = found else {
        return Ok(if with_score {
            Reply::NilArray
        } else {
            Reply::Nil
        });
    };
    let shown = Reply::Int(if reversed {
        zset.len() - 1 - rank
    } else {
        rank
    } as i64);
    let score = zset.iter().nth(rank).map_or(0.0, |(score, _)| *score);
    if with_score {
        return Ok(Reply::array(vec![
            shown,
            Reply::Bulk(score_text(score, cx.version())),
        ]));
    }
    Ok(shown)
}

pub(super) fn zrank(cx: &mut Context<'_>) -> Outcome {
    rank(cx, false)
}

pub(super) fn zrevrank(cx: &mut Context<'_>) -> Outcome {
    rank(cx, true)
}

pub(super) fn zcount(cx: &mut Context<'_>) -> Outcome {
    let wanted = ScoreRange::parse(cx.arg(2), cx.arg(3), cx.version())?;
    let zset = cx.node.read::<SortedSet>(cx.arg(1))?;
    Ok(Reply::Int(
        zset.map_or(0, |zset| wanted.positions(zset).len()) as i64,
    ))
}

pub(super) fn zremrangebyscore(cx: &mut Context<'_>) -> Outcome {
    let wanted = ScoreRange::parse(cx.arg(2), cx.arg(3), cx.version())?;
    remove(cx, |zset| wanted.positions(zset))
}

pub(super) fn zremrangebyrank(cx: &mut Context<'_>) -> Outcome {
    let (start, end) = (cx.integer(2)?, cx.integer(3)?);
    remove(cx, |zset| range(start, end, zset.len()))
}

fn remove(
    cx: &mut Context<'_>,
    which: impl FnOnce(&SortedSet) -> std::ops::Range<usize>,
) -> Outcome {
    let removed = cx.node.change(cx.arg(1), |zset: &mut SortedSet| {
        let range = which(zset);
        let removed = zset.drain(range).len() as i64;
        (removed, removed > 0)
    })?;
    Ok(Reply::Int(removed))
}

fn pop(cx: &mut Context<'_>, lowest: bool) -> Outcome {
    let wanted = match cx.args(2) {
        [] => 1,
        [word] if cx.version() == Version::Redis62 => cx.integer(2).map(|_| count(word))?,
        [word] => {
            let count = parse_integer(word).and_then(|count| usize::try_from(count).ok());
            count.ok_or("ERR value is out of range, must be positive")?
        }
        _ => return Err(Failure::syntax()),
    };
    let version = cx.version();
    if wanted == 0 && version == Version::Redis62 {
        return Ok(Reply::array(Vec::new()));
    }
    let popped = cx.node.change(cx.arg(1), |zset: &mut SortedSet| {
        let len = zset.len();
        let count = wanted.min(len);
        let mut popped = if lowest {
            zset.drain(0..count)
        } else {
            zset.drain(len - count..len)
        };
        if !lowest {
            popped.reverse();
        }
        let changed = !popped.is_empty();
        (popped, changed)
    })?;
    let replies = popped
        .into_iter()
        .flat_map(|(score, member)| [Reply::Bulk(member), Reply::Bulk(score_text(score, version))]);
    Ok(Reply::array(replies.collect()))
}

/// Redis 6.2 takes a negative count for zero.
fn count(word: &[u8]) -> usize {
    parse_integer(word)
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(0)
}

pub(super) fn zpopmin(cx: &mut Context<'_>) -> Outcome {
    pop(cx, true)
}

pub(super) fn zpopmax(cx: &mut Context<'_>) -> Outcome {
    pop(cx, false)
}
