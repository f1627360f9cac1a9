//! Denials that are remembered in the process, beside those that the server says.

use std::num::NonZeroUsize;
use std::sync::Arc;

use limiter_core::RememberingStore;
use limiter_memory::CounterClock;

use super::Bench;
use super::commands;
use super::limiters::{Ours, connect, plain};
use super::load::ask;
use super::workloads::{Heavy, Keys, PLAIN, Work};
use crate::page::table;
use crate::rounds::{Contestant, Measured, measure};

const ROUNDS: usize = 7;
/// For how many budgets denials are remembered.
const PLACES: NonZeroUsize = NonZeroUsize::new(1 << 16).expect("not 0");
/// A run of remembered denials is so many runs of the others, to take a time that can be measured.
const REPEATED: u64 = 20;

pub(super) struct Remembered {
    pub(super) work: Work,
    asked: Measured,
    remembered: Measured,
    /// Scripts for each decision that may be remembered.
    scripts: f64,
}

impl Remembered {
    /// How many times faster it is.
    pub(super) fn gain(&self) -> f64 {
        self.asked.ratio_to(&self.remembered)
    }
}

fn measured(bench: &Bench, work: Work) -> Remembered {
    eprintln!("redis: remembered, {work}");
    bench.clear();
    let connection = connect(bench);
    let (limit, order) = (work.limit(), work.order());
    let store = plain(connection.clone(), "remembering:");
    let remembering = RememberingStore::new(store, CounterClock::new(), PLACES);
    let remembering = Arc::new(Ours::new(remembering, limit));
    let asking = Arc::new(Ours::new(plain(connection, "plain:"), limit));
    let ask_often = || {
        for _ in 0..REPEATED {
            ask(&bench.runtime, &remembering, &order, work.callers);
        }
        REPEATED * order.len() as u64
    };
    let both = vec![
        Contestant::new(PLAIN, || {
            ask(&bench.runtime, &asking, &order, work.callers);
            order.len() as u64
        }),
        Contestant::new("RememberingStore", ask_often),
    ];
    let [asked, remembered] = measure(both, ROUNDS).try_into().expect("two of them");
    let statistics = commands::counted(bench, ask_often);
    Remembered {
        work,
        asked,
        remembered,
        scripts: statistics.scripts() / (REPEATED * order.len() as u64) as f64,
    }
}

pub(super) fn measure_all(bench: &Bench) -> Vec<Remembered> {
    let works = [(1, Keys::OneHot), (512, Keys::OneHot), (512, Keys::Many)];
    let works = works.map(|(callers, keys)| Work {
        callers,
        keys,
        heavy: Heavy::Denied,
    });
    works.map(|work| measured(bench, work)).into()
}

pub(super) fn section(all: &[Remembered]) -> String {
    let row = |one: &Remembered| {
        vec![
            one.work.to_string(),
            one.asked.shown(),
            one.remembered.shown(),
            format!("{:.0}", one.gain()),
            format!("{:.2} %", one.scripts * 100.0),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    let head = [
        "work",
        "`RedisStore`, ns a decision",
        "`RememberingStore` around it, ns a decision",
        "times faster",
        "asked all the same",
    ];
    format!(
        "## Remembered denials\n\nThere is room for {PLACES} budgets. Each that denies is asked for once a second, as by default; \
         and each time that others took its place: four of them share four.\n\n{}",
        table(&head, &rows)
    )
}
