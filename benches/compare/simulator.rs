//! The simulator, beside loom and shuttle on the same model: three clients that check and then
//! update, two steps each.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use limiter_sim::{Fault, Scenario, Search, named};

use crate::page::table;
use crate::rounds::{Contestant, measure};

const ROUNDS: usize = 5;

fn scenario(store: &str) -> Scenario {
    Scenario::new(named(store).expect("in the catalogue"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Every order of the loom model; says how many executions there were.
fn by_loom() -> u64 {
    static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
    EXECUTIONS.store(0, Ordering::Relaxed);
    loom::model(|| {
        EXECUTIONS.fetch_add(1, Ordering::Relaxed);
        let count = loom::sync::Arc::new(loom::sync::atomic::AtomicU64::new(0));
        let clients: Vec<_> = (0..3)
            .map(|_| {
                let count = loom::sync::Arc::clone(&count);
                loom::thread::spawn(move || {
                    if count.load(loom::sync::atomic::Ordering::SeqCst) < 2 {
                        count.fetch_add(1, loom::sync::atomic::Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for client in clients {
            client.join().expect("no client panics");
        }
    });
    EXECUTIONS.load(Ordering::Relaxed)
}

fn checked_by_shuttle() {
    let count = shuttle::sync::Arc::new(shuttle::sync::atomic::AtomicU64::new(0));
    let clients: Vec<_> = (0..3)
        .map(|_| {
            let count = shuttle::sync::Arc::clone(&count);
            shuttle::thread::spawn(move || {
                if count.load(Ordering::SeqCst) < 2 {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().expect("no client panics");
    }
}

fn walks(runs: u64, threads: usize) -> u64 {
    let walks = scenario("split")
        .workers(3)
        .limit(2)
        .search(Search::Random)
        .runs(runs)
        .threads(threads);
    black_box(walks.explore().expect("it can be explored")).executions
}

fn on_one_model() -> String {
    const RUNS: u64 = 20_000;
    let measured = measure(
        vec![
            Contestant::new("limiter-sim, random walks", || walks(10 * RUNS, 1)),
            Contestant::new("limiter-sim, random walks, every core", || {
                walks(10 * RUNS, cores())
            }),
            Contestant::new("shuttle, random walks", || {
                shuttle::check_random(checked_by_shuttle, RUNS as usize);
                RUNS
            }),
            Contestant::new("loom, every execution", by_loom),
            Contestant::new("limiter-sim, every state (whole explorations)", || {
                let found = scenario("split").workers(3).limit(2);
                for _ in 0..20 {
                    black_box(found.explore().expect("it can be explored"));
                }
                20
            }),
        ],
        ROUNDS,
    );
    let row =
        |one: &crate::rounds::Measured| vec![one.name.clone(), format!("{:.0}", one.per_second())];
    let rows: Vec<Vec<String>> = measured.iter().map(row).collect();
    format!(
        "## Three clients, two steps each: check, then update\n\nloom follows {} executions of this model. \
         One exploration of limiter-sim sees every state of the same orders, with the Redis commands, \
         shrinks the worst history and replays it.\n\n{}",
        by_loom(),
        table(&["who", "a second"], &rows)
    )
}

/// A search, counted by the states that it sees or the steps that it takes.
fn searches() -> String {
    let two_faults = || {
        [Fault::Evict, Fault::LostReply, Fault::Failover]
            .into_iter()
            .fold(
                scenario("atomic-window").workers(8).attempts(2),
                |scenario, fault| scenario.fault(fault, 2),
            )
            .max_faults(2)
    };
    let cases: [(&str, Scenario); 4] = [
        (
            "`split`, 16 clients, limit 5: every state, no Lua",
            scenario("split"),
        ),
        (
            "`split`, 16 clients, limit 8: every state, no Lua",
            scenario("split").limit(8),
        ),
        (
            "`atomic-window`, 8 clients × 2, two faults of evict, lost-reply, failover: every state, Lua in each step",
            two_faults(),
        ),
        (
            "`atomic-window`, 3 clients × 2: random walks, Lua in each step",
            scenario("atomic-window")
                .workers(3)
                .attempts(2)
                .search(Search::Random)
                .runs(100_000),
        ),
    ];
    let rows = cases.map(|(name, scenario)| {
        let scenario = scenario.threads(1);
        let peak = allocation_counter::measure(|| {
            limiter_sim::measure::search(&scenario);
        });
        let counts = limiter_sim::measure::search(&scenario);
        let measured = measure(
            vec![Contestant::new(name, || {
                limiter_sim::measure::search(&scenario).steps
            })],
            ROUNDS,
        );
        let steps = measured[0].per_second();
        let seconds = counts.steps as f64 / steps;
        vec![
            name.to_owned(),
            counts.states.to_string(),
            format!("{:.0}", counts.executions as f64 / seconds),
            format!("{:.0}", counts.paths as f64 / seconds),
            format!("{steps:.0}"),
            format!("{:.0}", seconds * 1000.0),
            format!("{:.1}", peak.bytes_max as f64 / f64::from(1 << 20)),
        ]
    });
    let head = [
        "search, one thread",
        "states",
        "complete histories a second",
        "paths a second",
        "steps a second",
        "ms",
        "peak, MiB",
    ];
    format!(
        "## Searches\n\nA *path* ends where every client is done, or in a state that was seen before. The \
         peak is of all memory; the set of states that were seen takes 29 to 58 bytes for each.\n\n{}",
        table(&head, &rows)
    )
}

pub(crate) fn section() -> String {
    eprintln!("simulator: one model");
    let one_model = on_one_model();
    eprintln!("simulator: searches");
    one_model + &searches()
}
