//! The cells of the matrix: which faults each row lets happen.

use std::sync::Arc;

use crate::scenario::{Parameters, Persistence, Scenario};
use crate::subject::{self, Subject};
use crate::world::Fault;

/// One cell: its block's and its row's name, and what is explored in it.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) block: Block,
    pub(crate) row: String,
    pub(crate) scenario: Scenario,
}

/// A row: what may happen in it.
struct Row {
    name: &'static str,
    faults: &'static [Fault],
    persistence: Persistence,
    time_steps: u32,
}

const fn row(name: &'static str, faults: &'static [Fault]) -> Row {
    Row {
        name,
        faults,
        persistence: Persistence::None,
        time_steps: 0,
    }
}

const fn on_disk(name: &'static str, faults: &'static [Fault], persistence: Persistence) -> Row {
    Row {
        persistence,
        ..row(name, faults)
    }
}

/// A violated cell with faults is not searched further once this many states led to nothing worse:
/// its verdict stands, and the cell says that it was not exhausted.
const PATIENCE: u64 = 25_000;

const ROWS: &[Row] = &[
    row("contention", &[]),
    Row {
        time_steps: 1,
        ..row("expiry", &[])
    },
    row("lost-request", &[Fault::LostRequest]),
    row("lost-reply", &[Fault::LostReply]),
    row("late-reply", &[Fault::LateReply]),
    row("client-crash", &[Fault::ClientCrash]),
    row("evict", &[Fault::Evict]),
    row("out-of-memory", &[Fault::OutOfMemory]),
    row("script-flush", &[Fault::ScriptFlush]),
    on_disk("restart none", &[Fault::Restart], Persistence::None),
    on_disk("restart rdb", &[Fault::Restart], Persistence::Rdb),
    on_disk("restart aof-no", &[Fault::Restart], Persistence::AofNo),
    on_disk(
        "restart aof-everysec",
        &[Fault::Restart],
        Persistence::AofEverysec,
    ),
    on_disk(
        "restart aof-always",
        &[Fault::Restart],
        Persistence::AofAlways,
    ),
    // A slow disk alone loses nothing; it is the kill in the middle of it that does.
    on_disk(
        "slow-disk + kill",
        &[Fault::SlowDisk, Fault::Restart],
        Persistence::AofEverysec,
    ),
    on_disk("power-loss aof-no", &[Fault::PowerLoss], Persistence::AofNo),
    on_disk(
        "power-loss aof-everysec",
        &[Fault::PowerLoss],
        Persistence::AofEverysec,
    ),
    on_disk(
        "power-loss aof-always",
        &[Fault::PowerLoss],
        Persistence::AofAlways,
    ),
    row("failover", &[Fault::Failover]),
    row("split-brain", &[Fault::SplitBrain]),
    row("clock-jump", &[Fault::ClockJump]),
    row("stale-read", &[Fault::StaleRead]),
];

/// Which part of the matrix a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Subjects that promise the first-arrival window.
    FirstArrival,
    /// Other rules, and what else a store of this project can be asked for.
    Others,
}

impl Block {
    fn subjects(self) -> Vec<Arc<dyn Subject>> {
        match self {
            Self::FirstArrival => subject::first_arrival_windows(),
            Self::Others => subject::rules_and_forms(),
        }
    }

    /// Workers that are told apart by their nonces make for many more states, and so does time: the
    /// second block has two workers against a limit of one. Each comes back, so that both a loss and
    /// a share of each process are more than the limit, and less than all calls. Where two are not
    /// enough to see what is special about a subject, as many as it takes come once.
    fn parameters(self, subject: &dyn Subject, given: &Parameters) -> Parameters {
        let (workers, attempts) = match subject.at_once() {
            crowd @ 3.. => (crowd, 1),
            _ => (2, 2),
        };
        match self {
            Self::FirstArrival => given.clone(),
            Self::Others => Parameters {
                workers: given.workers.min(workers),
                attempts,
                limit: given.limit.min(1),
                ..given.clone()
            },
        }
    }

    /// A circuit and a deadline have something to show only where time passes.
    fn time_steps(self, row: &Row) -> u32 {
        match self {
            Self::Others if !row.faults.is_empty() => 1,
            _ => row.time_steps,
        }
    }
}

impl Cell {
    /// Whether what happens in this cell is what happens in `other`: the same store and the same
    /// kills, after which the disk has everything, under this policy as under that one.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let keeps_all = |cell: &Self| {
            let appends = [
                Persistence::AofNo,
                Persistence::AofEverysec,
                Persistence::AofAlways,
            ];
            let kinds = &cell.scenario.faults.kinds;
            appends.contains(&cell.scenario.persistence)
                && matches!(kinds[..], [(Fault::Restart, _)])
        };
        keeps_all(self)
            && keeps_all(other)
            && self.scenario.subject.name() == other.scenario.subject.name()
    }

    /// Every row with every store, block by block.
    pub(crate) fn all(parameters: &Parameters, max_faults: u32, max_states: u64) -> Vec<Self> {
        [Block::FirstArrival, Block::Others]
            .into_iter()
            .flat_map(|block| Self::of(block, parameters, max_faults, max_states))
            .collect()
    }

    /// Every row with every store of one block.
    pub(crate) fn of(
        block: Block,
        parameters: &Parameters,
        max_faults: u32,
        max_states: u64,
    ) -> Vec<Self> {
        let subjects = block.subjects();
        let mut cells = Vec::with_capacity(ROWS.len() * subjects.len());
        for row in ROWS {
            for subject in &subjects {
                let mut scenario = Scenario::new(subject.clone())
                    .parameters(block.parameters(&**subject, parameters))
                    .persistence(row.persistence)
                    .time_steps(block.time_steps(row))
                    .max_states(max_states);
                if !row.faults.is_empty() {
                    scenario = scenario.patience(PATIENCE);
                }
                for fault in row.faults {
                    scenario = scenario.fault(*fault, max_faults);
                }
                // One of each where the row needs several kinds together.
                let total = max_faults.max(u32::try_from(row.faults.len()).unwrap_or(0));
                let total = if row.faults.is_empty() { 0 } else { total };
                cells.push(Self {
                    block,
                    row: row.name.to_owned(),
                    scenario: scenario.max_faults(total),
                });
            }
        }
        cells
    }
}
