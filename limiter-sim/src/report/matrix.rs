//! The failure matrix: stores by faults, the worst case in every cell.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use comfy_table::{Cell as Mark, Color};
use limiter_core::{Clock, SystemClock};
use serde::Serialize;

use super::table::table;
use super::{Cell, Exploration, Style};

/// What the bare command prints.
#[derive(Debug, Serialize)]
pub(crate) struct Matrix {
    pub(crate) cells: Vec<Exploration>,
    #[serde(skip)]
    rows: Vec<String>,
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
        let next = AtomicUsize::new(0);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let results = Mutex::new(Vec::with_capacity(cells.len()));
        // What is the same is explored once.
        let twin = |number: usize| {
            cells[..number]
                .iter()
                .position(|cell| cell.equals(&cells[number]))
        };
        let work = || loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = cells.get(number) else {
                return;
            };
            if twin(number).is_some() {
                done();
                continue;
            }
            let result = Exploration::of(&cell.scenario, &|_| ());
            done();
            let mut results = results
                .lock()
                .expect("no thread panics while it holds the results");
            results.push((number, result));
        };
        thread::scope(|scope| {
            for _ in 0..threads.min(cells.len()) {
                scope.spawn(work);
            }
        });
        let results = results.into_inner().expect("no thread panicked");
        let mut explored: Vec<Option<Exploration>> = vec![None; cells.len()];
        for (number, result) in results {
            explored[number] = Some(result?);
        }
        for number in 0..cells.len() {
            if let Some(twin) = twin(number) {
                let same = explored[twin].as_ref();
                explored[number] = same.map(|found| found.under(&cells[number].scenario));
            }
        }
        Ok(Self {
            cells: explored.into_iter().flatten().collect(),
            rows: cells.iter().map(|cell| cell.row.clone()).collect(),
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
        let rows = self.cells.iter().zip(&self.rows).map(|(cell, row)| {
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
        let mut stores: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !stores.contains(&cell.store.as_str()) {
                stores.push(&cell.store);
            }
        }
        let mut text = String::new();
        for block in stores.chunks(COLUMNS) {
            text += &self.block(block, style);
            text.push('\n');
        }
        text + LEGEND + &self.total()
    }

    fn block(&self, stores: &[&str], style: Style) -> String {
        let mut head = vec![String::new()];
        head.extend(stores.iter().map(|store| store.replace('-', "\n")));
        let mut rows: Vec<(&str, Vec<Mark>)> = Vec::new();
        for (cell, row) in self.cells.iter().zip(&self.rows) {
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

    fn total(&self) -> String {
        let states: u64 = self.cells.iter().map(|cell| cell.states).sum();
        let limit = self.cells.first().map_or(0, |cell| cell.limit);
        format!(
            "limit {limit}; {} cells, {states} states, {:.1} s\n",
            self.cells.len(),
            self.took.as_secs_f64()
        )
    }
}

const LEGEND: &str = "\
Each cell: the most units that one window admitted, in the worst history.
  =   proved: every state within the bounds was seen, and none admits more
  !   violated: some history admits more than the limit, or is marked with ∞ or x
  ~   bounded: the search ended before every state was seen
  ∞   some history leaves a counter that denies for ever
  x   after some history nobody is admitted when the window has passed
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
