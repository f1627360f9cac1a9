//! Charges that one script call decides: folded on the way out, told one by one on the way back.

use std::time::Duration;

use futures_channel::oneshot::Sender;
use redis::{RedisError, Value};

use crate::answer::foreign;
use crate::plain::Plain;
use crate::reply::{Reply, units, until_over};

/// The most charges in one call.
pub(super) const MAX_DECISIONS: usize = 64;

/// The most bytes in one call, as it is sent by the script's digest.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// No more than this is sent once a call, once a budget beside its key, and once a charge.
const CALL_BYTES: usize = 128;
const BUDGET_BYTES: usize = 64;
const CHARGE_BYTES: usize = 80;

const PER_RUN: usize = 3;

/// What one caller is told.
#[derive(Debug)]
pub(super) enum Answer {
    /// The script said this of its charge.
    Said(Reply),
    /// The server refused this budget, and charged nothing to it.
    Refused(String),
    /// It was sent alone after all, and this came back.
    Alone(Result<Value, RedisError>),
    /// The whole call failed.
    Failed(RedisError),
    /// The script said something that it does not say.
    Unreadable(String),
    /// Nobody was there to send it.
    NotSent,
}

/// Charges, by budget: what is read and written once.
#[derive(Debug, Default)]
pub(super) struct Batch {
    budgets: Vec<Budget>,
    decisions: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Budget {
    key: Vec<u8>,
    length_ms: u64,
    runs: Vec<Run>,
}

/// Equal charges in a row.
#[derive(Debug)]
struct Run {
    limit: u64,
    cost: u64,
    callers: Vec<Sender<Answer>>,
}

/// Whether a call has room for `plain` alone.
pub(super) fn is_small(plain: &Plain) -> bool {
    CALL_BYTES + BUDGET_BYTES + plain.key.len() + CHARGE_BYTES <= MAX_BYTES
}

impl Batch {
    /// Whether there is room for `plain` too.
    pub(super) fn has_room(&self, plain: &Plain) -> bool {
        let budget = match self.place(&plain.key) {
            Some(_) => 0,
            None => BUDGET_BYTES + plain.key.len(),
        };
        let bytes = CALL_BYTES + self.bytes + budget + CHARGE_BYTES;
        self.decisions < MAX_DECISIONS && bytes <= MAX_BYTES
    }

    /// Budgets are few and their keys differ early, so a look at each is cheaper than a map.
    fn place(&self, key: &[u8]) -> Option<usize> {
        self.budgets.iter().position(|budget| budget.key == key)
    }

    pub(super) fn push(&mut self, plain: Plain, caller: Sender<Answer>) {
        let place = self.place(&plain.key).unwrap_or_else(|| {
            self.bytes += BUDGET_BYTES + plain.key.len();
            self.budgets.push(Budget {
                key: plain.key,
                length_ms: plain.length_ms,
                runs: Vec::new(),
            });
            self.budgets.len() - 1
        });
        self.bytes += CHARGE_BYTES;
        self.decisions += 1;
        let (limit, cost) = (plain.limit.get(), plain.cost);
        let runs = &mut self.budgets[place].runs;
        match runs.last_mut() {
            Some(run) if (run.limit, run.cost) == (limit, cost) => run.callers.push(caller),
            _ => runs.push(Run {
                limit,
                cost,
                callers: vec![caller],
            }),
        }
    }

    /// Whether it is one charge, which has a smaller script of its own.
    pub(super) fn is_alone(&self) -> bool {
        self.decisions == 1
    }

    pub(super) fn tell_alone(self, reply: &Result<Value, RedisError>) {
        tell_all(self.runs(), || Answer::Alone(reply.clone()));
    }

    /// What that script is told: limit, cost, length.
    pub(super) fn arguments_alone(&self) -> Vec<u64> {
        let budgets = self.budgets.iter().flat_map(|budget| {
            let runs = budget.runs.iter();
            runs.flat_map(|run| [run.limit, run.cost, budget.length_ms])
        });
        budgets.collect()
    }

    pub(super) fn keys(&mut self) -> Vec<Vec<u8>> {
        let budgets = self.budgets.iter_mut();
        budgets
            .map(|budget| std::mem::take(&mut budget.key))
            .collect()
    }

    /// Puts budgets that are asked the same beside each other: they share their arguments. Each is
    /// decided for itself, so only the order of its own charges counts, and that stays.
    pub(super) fn gather(&mut self) {
        self.budgets
            .sort_by(|one, other| one.asked().cmp(other.asked()));
    }

    /// What the script is told of budgets that were gathered.
    pub(super) fn arguments(&self) -> Vec<u64> {
        let mut arguments = Vec::new();
        let are_asked_the_same = |one: &Budget, other: &Budget| one.asked().eq(other.asked());
        for group in self.budgets.chunk_by(are_asked_the_same) {
            arguments.push(group.len() as u64);
            arguments.extend(group[0].asked());
        }
        arguments
    }

    fn runs(self) -> Vec<Run> {
        let runs = self.budgets.into_iter().flat_map(|budget| budget.runs);
        runs.collect()
    }

    /// Tells every caller what became of its charge.
    pub(super) fn tell(self, reply: &Result<Value, RedisError>) {
        let runs = self.runs();
        let parts = match reply {
            Ok(Value::Array(parts)) if parts.len() == runs.len() * PER_RUN => parts,
            Ok(other) => return tell_all(runs, || Answer::Unreadable(foreign(other))),
            Err(error) => return tell_all(runs, || Answer::Failed(error.clone())),
        };
        for (run, parts) in runs.into_iter().zip(parts.chunks_exact(PER_RUN)) {
            run.tell(parts);
        }
    }
}

impl Budget {
    /// What the script is told of it, beside its key: length, number of runs, and each of them.
    fn asked(&self) -> impl Iterator<Item = u64> + '_ {
        let runs = self.runs.iter();
        let runs = runs.flat_map(|run| [run.limit, run.cost, run.callers.len() as u64]);
        [self.length_ms, self.runs.len() as u64]
            .into_iter()
            .chain(runs)
    }
}

fn tell_all(runs: Vec<Run>, answer: impl Fn() -> Answer) {
    runs.into_iter().for_each(|run| run.tell_same(&answer));
}

impl Run {
    fn tell(self, parts: &[Value]) {
        match parts {
            [Value::Int(-1), what, _] => {
                let what = text(what);
                self.tell_same(|| Answer::Said(Reply::Corrupt(what.clone())));
            }
            [Value::Int(-2), why, _] => {
                let why = text(why);
                self.tell_same(|| Answer::Refused(why.clone()));
            }
            [admitted, total, left_ms] => match self.read(admitted, total, left_ms) {
                Some((admitted, total, resets_in)) => self.tell_each(admitted, total, resets_in),
                None => self.tell_same(|| Answer::Unreadable(foreign(admitted))),
            },
            _ => unreachable!("parts come in threes"),
        }
    }

    /// How many were admitted, the total after them, and when the window is over.
    fn read(
        &self,
        admitted: &Value,
        total: &Value,
        left_ms: &Value,
    ) -> Option<(usize, u64, Option<Duration>)> {
        let (admitted, total) = (usize::try_from(units(admitted)?).ok()?, units(total)?);
        let resets_in = match left_ms {
            Value::Int(-2) => None,
            left_ms => Some(until_over(left_ms)?),
        };
        let charged = (admitted as u64).checked_mul(self.cost)?;
        let is_possible = admitted <= self.callers.len() && charged <= total;
        let is_open = admitted == 0 || resets_in.is_some();
        (is_possible && is_open).then_some((admitted, total, resets_in))
    }

    fn tell_each(self, admitted: usize, total: u64, resets_in: Option<Duration>) {
        for (place, caller) in self.callers.into_iter().enumerate() {
            let reply = match resets_in {
                Some(resets_in) if place < admitted => Reply::Yes {
                    total: total - self.cost * (admitted - 1 - place) as u64,
                    resets_in,
                },
                _ => Reply::No { total, resets_in },
            };
            tell(caller, Answer::Said(reply));
        }
    }

    fn tell_same(self, answer: impl Fn() -> Answer) {
        self.callers
            .into_iter()
            .for_each(|caller| tell(caller, answer()));
    }
}

/// A caller may have gone meanwhile; then nobody is told.
pub(super) fn tell(caller: Sender<Answer>, answer: Answer) {
    let _ = caller.send(answer);
}

fn text(value: &Value) -> String {
    match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => "for no reason that the script gives".to_owned(),
    }
}
