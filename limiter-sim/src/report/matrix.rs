//! The failure matrix: stores by faults, the worst case in every cell.

use std::time::Duration;

use comfy_table::{Cell as Mark, Color};
use limiter_core::{Clock, SystemClock};
use serde::Serialize;

use super::cell::Block;
use super::table::table;
use super::{Cell, Exploration, Style};
use crate::threads;

/// What the bare command prints.
#[derive(Debug, Serialize)]
pub(crate) struct Matrix {
    pub(crate) cells: Vec<Exploration>,
    #[serde(skip)]
    rows: Vec<(Block, String)>,
    #[serde(skip)]
    took: Duration,
}

/// Stores side by side in one block: as many as fit into 100 columns.
const COLUMNS: usize = 7;

impl Matrix {
    /// Explores every cell; `done` is told about each that is finished. Uses all cores.
    ///
    /// # Errors
    /// Where client code drifts.
    pub(crate) fn of(cells: &[Cell], done: &(dyn Fn() + Sync)) -> Result<Self, String> {
        let clock = SystemClock::new();
        let begun = clock.now();
        // What is the same is explored once.
        let twin = |number: usize| {
            cells[..number]
                .iter()
                .position(|cell| cell.equals(&cells[number]))
        };
        let explore = |(): &mut (), number: usize| {
            let explored = twin(number)
                .is_none()
                .then(|| Exploration::of(&cells[number].scenario.clone().threads(1), &|_| ()));
            done();
            explored.transpose()
        };
        let explored = threads::share(threads::all(), cells.len(), || (), explore);
        let mut explored = explored.into_iter().collect::<Result<Vec<_>, String>>()?;
        for number in 0..cells.len() {
            if let Some(twin) = twin(number) {
                let same = explored[twin].as_ref();
                explored[number] = same.map(|found| found.under(&cells[number].scenario));
            }
        }
        Ok(Self {
            cells: explored.into_iter().flatten().collect(),
            rows: cells
                .iter()
                .map(|cell| (cell.block, cell.row.clone()))
                .collect(),
            took: Duration::from_millis(clock.now().millis_since(begun)),
        })
    }

    /// These cells and then `others`.
    pub(crate) fn followed_by(mut self, others: Self) -> Self {
        self.cells.extend(others.cells);
        self.rows.extend(others.rows);
        self.took += others.took;
        self
    }

    /// One line for each cell, with its verdict and its states.
    pub(crate) fn summary(&self, style: Style) -> String {
        let rows = self.cells.iter().zip(&self.rows).map(|(cell, (_, row))| {
            vec![
                Mark::new(&cell.store),
                Mark::new(row),
                mark(cell),
                Mark::new(cell.limit),
                Mark::new(cell.verdict),
                Mark::new(cell.states),
            ]
        });
        let head = ["store", "under", "admitted", "limit", "verdict", "states"];
        table(&head, rows, style) + "\n"
    }

    pub(crate) fn render(&self, style: Style) -> String {
        let mut text = String::new();
        for block in [Block::FirstArrival, Block::Others] {
            let of_block = || {
                self.rows
                    .iter()
                    .zip(&self.cells)
                    .filter(move |((of, _), _)| *of == block)
            };
            let mut stores: Vec<&str> = Vec::new();
            for (_, cell) in of_block() {
                if !stores.contains(&cell.store.as_str()) {
                    stores.push(&cell.store);
                }
            }
            if let Some((_, first)) = of_block().next() {
                text += &head(block, first, of_block().map(|(_, cell)| cell));
            }
            for columns in stores.chunks(COLUMNS) {
                let rows = of_block().map(|((_, row), cell)| (row.as_str(), cell));
                text += &side_by_side(columns, rows, style);
                text.push('\n');
            }
        }
        text + LEGEND + &self.total()
    }

    fn total(&self) -> String {
        let states: u64 = self.cells.iter().map(|cell| cell.states).sum();
        format!(
            "{} cells, {states} states, {:.1} s\n",
            self.cells.len(),
            self.took.as_secs_f64()
        )
    }
}

/// What the cells of a block have in common, and which stores are called otherwise.
fn head<'a>(
    block: Block,
    first: &Exploration,
    cells: impl Iterator<Item = &'a Exploration>,
) -> String {
    let what = match block {
        Block::FirstArrival => "first-arrival windows",
        Block::Others => "other rules and forms, each by its own promise",
    };
    let size = |cell: &Exploration| format!("{} workers × {}", cell.workers, cell.attempts);
    let usual = size(first);
    let mut others: Vec<String> = cells
        .filter(|cell| size(cell) != usual)
        .map(|cell| format!("{}: {}\n", cell.store, size(cell)))
        .collect();
    others.sort();
    others.dedup();
    let (limit, others) = (first.limit, others.concat());
    let time = match block {
        Block::FirstArrival => "",
        Block::Others => ", a time step under each fault",
    };
    format!("{what}: {usual}, limit {limit}{time}\n{others}\n")
}

fn side_by_side<'a>(
    stores: &[&str],
    cells: impl Iterator<Item = (&'a str, &'a Exploration)>,
    style: Style,
) -> String {
    let mut head = vec![String::new()];
    head.extend(stores.iter().map(|store| store.replace('-', "\n")));
    let mut rows: Vec<(&str, Vec<Mark>)> = Vec::new();
    for (row, cell) in cells {
        if !stores.contains(&cell.store.as_str()) {
            continue;
        }
        match rows.last_mut() {
            Some((name, columns)) if *name == row => columns.push(mark(cell)),
            _ => rows.push((row, vec![Mark::new(row), mark(cell)])),
        }
    }
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table(&head, rows.into_iter().map(|(_, columns)| columns), style)
}

const LEGEND: &str = "\
Each cell: the most units that counted at once (in one window, in one interval, out of a bucket, in
leases), in the worst history.
  =   proved: every state within the bounds was seen, and none admits more
  !   violated: some history admits more than the limit, or is marked with ∞, x or ≠
  ~   bounded: the search ended before every state was seen
  ∞   some history leaves a counter that denies for ever
  x   after some history nobody is admitted when the window has passed
  ≠   without faults, no order of the calls of some history explains their answers (200 are sampled)
  w   some history wastes: units are charged that no caller is told about
  .   the fault cannot meet the store
";

/// A cell in a few characters.
fn mark(cell: &Exploration) -> Mark {
    if cell.not_applicable {
        return Mark::new(".").fg(Color::DarkGrey);
    }
    let mut mark = cell.max_admitted.to_string();
    if cell.verdict == "violated" {
        mark.push('!');
    }
    mark.push(if cell.exhausted { '=' } else { '~' });
    for (shown, sign) in [
        (cell.immortal, '∞'),
        (!cell.recovered, 'x'),
        (!cell.linearizes, '≠'),
        (cell.waste > 0, 'w'),
    ] {
        if shown {
            mark.push(sign);
        }
    }
    if !cell.vacuous.is_empty() {
        mark.push_str(" vacuous");
    }
    Mark::new(mark).fg(match cell.verdict {
        "violated" => Color::Red,
        "proved" => Color::Green,
        _ => Color::Yellow,
    })
}
