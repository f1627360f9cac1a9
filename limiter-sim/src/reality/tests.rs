//! The model's word, put to real servers.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Reality, reproduce};
use crate::report::{Block, Cell, Exploration};
use crate::scenario::{Parameters, Persistence, Scenario, Search};
use crate::search;
use crate::subject::named;
use crate::trace::{Token, replay};
use crate::world::{Action, Fault};

/// Histories under way at once: nearly all of their time is waited away.
const AT_ONCE: usize = 32;

/// The servers to ask: those that LIMITER_SERVERS lists, or the one on the PATH.
fn servers() -> Vec<PathBuf> {
    if let Some(list) = std::env::var_os("LIMITER_SERVERS") {
        return std::env::split_paths(&list).collect();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|dir| dir.join("redis-server"));
    let found = programs.find(|program| program.is_file());
    vec![found.expect("a redis-server on the PATH, or servers in LIMITER_SERVERS")]
}

/// Does something with each of many, some at once, and returns what was returned.
fn with_all<T: Sync, R: Send>(all: &[T], act: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(all.len()) {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = act(one);
                    results.lock().expect("nobody panicked").push(result);
                }
            });
        }
    });
    results.into_inner().expect("nobody panicked")
}

/// The cells of a small matrix, each with what was found.
fn cells() -> Vec<(Cell, Exploration)> {
    let parameters = Parameters {
        workers: 3,
        limit: 1,
        ..Parameters::default()
    };
    let cells = Cell::of(Block::FirstArrival, &parameters, 1, 300_000);
    let explored = cells.into_iter().map(|cell| {
        let found = cell.scenario.explore().expect("it can be explored");
        (cell, found)
    });
    explored.collect()
}

fn on(server: &Path, token: &str) -> Result<Reality, String> {
    let token: Token = token.parse().expect("a token");
    let scenario = token.scenario(None).expect("a store of the catalogue");
    reproduce(&token, &scenario, server)
}

/// The same, up to three times: what a busy machine spoils once is shown by one run in which it
/// happens.
fn shown_on(server: &Path, token: &str) -> Result<Reality, String> {
    let mut reality = on(server, token)?;
    for _ in 1..3 {
        if reality.is_reproduced() {
            break;
        }
        reality = on(server, token)?;
    }
    Ok(reality)
}

fn is_beyond_processes(refusal: &str) -> bool {
    refusal.contains("loss of power")
        || refusal.contains("clock of a server's host")
        || refusal.contains("would be waited for")
}

#[test]
fn every_violated_cell_that_processes_can_show_is_reproduced_on_a_real_server() {
    let server = &servers()[0];
    let violated: Vec<_> = cells()
        .into_iter()
        .filter_map(|(cell, found)| Some((cell.row, found.store, found.token?)))
        .collect();
    let shown = with_all(&violated, |(row, store, token)| {
        match shown_on(server, token) {
            // What needs the very last millisecond of a key's life cannot be hit from outside.
            Ok(reality)
                if reality
                    .model
                    .moments
                    .iter()
                    .any(|moment| moment.at_a_deadline) =>
            {
                false
            }
            Ok(reality) => {
                assert!(
                    reality.is_reproduced(),
                    "{store} under {row}: {:?} in the model, {:?} on {} with {token}",
                    reality.model.figures,
                    reality.figures,
                    reality.server,
                );
                true
            }
            Err(refusal) => {
                assert!(
                    is_beyond_processes(&refusal),
                    "{store} under {row}: {refusal}"
                );
                false
            }
        }
    });
    let reproduced = shown.iter().filter(|shown| **shown).count();
    assert!(reproduced > 100, "{reproduced} of {}", shown.len());
}

#[test]
fn proved_cells_hold_on_a_real_server() {
    let server = &servers()[0];
    let proved: Vec<_> = cells()
        .into_iter()
        .filter(|(_, found)| found.verdict == "proved" && !found.not_applicable)
        .flat_map(|(cell, _)| {
            [1, 2].map(|seed| (cell.row.clone(), cell.scenario.clone().seed(seed)))
        })
        .collect();
    assert!(proved.len() > 100, "{}", proved.len());
    let held = with_all(&proved, |(row, scenario)| {
        let (token, scenario) = at_random(scenario);
        match reproduce(&token, &scenario, server) {
            Ok(reality) => {
                assert!(
                    !reality.figures.is_violation(),
                    "{} under {row}: {:?} on {} with {token}",
                    scenario.subject.name(),
                    reality.figures,
                    reality.server,
                );
                true
            }
            Err(refusal) => {
                assert!(is_beyond_processes(&refusal), "{row}: {refusal}");
                false
            }
        }
    });
    assert!(held.iter().filter(|held| **held).count() > 100);
}

/// One history of the scenario, at random.
fn at_random(scenario: &Scenario) -> (Token, Scenario) {
    let mut scenario = scenario.clone().search(Search::Random).runs(1);
    let explored = search::explore(&scenario, &|_| ()).expect("it can be explored");
    let history: Vec<Action> = explored.findings.witness().to_vec();
    scenario.keep_log = true;
    let taken = replay(&scenario, &history).expect("it can be taken again");
    (Token::of(&scenario, &history, &taken), scenario)
}

/// A scenario of a store of the catalogue with faults, one of each.
fn scenario(store: &str, faults: &[Fault]) -> Scenario {
    let scenario = Scenario::new(named(store).expect("in the catalogue"));
    faults
        .iter()
        .fold(scenario, |scenario, fault| scenario.fault(*fault, 1))
}

/// What the token of a scenario shows on each server.
fn on_every_server(scenario: &Scenario, check: impl Fn(&Reality) + Sync) {
    let found = scenario.explore().expect("it can be explored");
    let token = found.token.or(found.waste_token).expect("a token");
    with_all(&servers(), |server| {
        check(&on(server, &token).expect("the server can be driven"));
    });
}

fn admits_on_every_server(scenario: &Scenario, admitted: u64) {
    on_every_server(scenario, |reality| {
        assert!(reality.is_reproduced(), "{reality:?}");
        assert_eq!(reality.figures.max_admitted, admitted, "{reality:?}");
        assert_eq!(reality.parts_at(), None, "{reality:?}");
    });
}

#[test]
fn split_admits_16_of_5_on_every_server() {
    admits_on_every_server(&scenario("split", &[]), 16);
}

#[test]
fn an_evicted_key_is_spent_twice_on_every_server() {
    admits_on_every_server(&scenario("atomic-window", &[Fault::Evict]), 10);
}

#[test]
fn a_restart_without_persistence_is_spent_twice_on_every_server() {
    admits_on_every_server(&scenario("atomic-window", &[Fault::Restart]), 10);
}

#[test]
fn a_failover_that_lost_the_writes_is_spent_twice_on_every_server() {
    admits_on_every_server(&scenario("atomic-window", &[Fault::Failover]), 10);
}

#[test]
fn a_kill_during_a_slow_fsync_loses_acknowledged_writes_on_every_server() {
    let slow = scenario("atomic-window", &[Fault::SlowDisk, Fault::Restart]);
    admits_on_every_server(&slow.persistence(Persistence::AofEverysec), 10);
}

#[test]
fn a_client_that_crashes_before_the_deadline_leaves_an_immortal_counter_on_every_server() {
    let crash = scenario("increment-then-expire", &[Fault::ClientCrash]);
    on_every_server(&crash, |reality| {
        assert!(reality.is_reproduced(), "{reality:?}");
        assert!(reality.figures.immortal, "{reality:?}");
    });
}

#[test]
fn a_naive_retry_after_a_lost_reply_charges_twice_on_every_server() {
    let lost = scenario("atomic-window-retry", &[Fault::LostReply]);
    on_every_server(&lost, |reality| {
        assert_eq!(reality.figures.waste, 1, "{reality:?}");
        assert!(!reality.figures.is_violation(), "{reality:?}");
    });
}

#[test]
fn what_processes_cannot_show_is_refused_by_name() {
    let server = &servers()[0];
    let lost = scenario("atomic-window", &[Fault::PowerLoss]);
    let jump = scenario("atomic-window", &[Fault::ClockJump]);
    for (scenario, why) in [(lost, "loss of power"), (jump, "clock of a server's host")] {
        let token = scenario
            .explore()
            .expect("explored")
            .token
            .expect("a token");
        let refusal = on(server, &token).expect_err("refused");
        assert!(refusal.contains(why), "{refusal}");
    }
    let long = self::scenario("split", &[]).window_ms(60_000);
    let token = long.explore().expect("explored").token.expect("a token");
    let refusal = on(server, &token).expect_err("refused");
    assert!(refusal.contains("at most 5000 ms"), "{refusal}");
}
