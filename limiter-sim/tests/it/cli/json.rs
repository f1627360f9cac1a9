//! The names of what is printed are stable.

use limiter_sim::{Fault, catalogue};
use serde_json::Value;

use super::run;

const EXPLORATION: [&str; 27] = [
    "store",
    "faults",
    "max_faults",
    "persistence",
    "workers",
    "attempts",
    "limit",
    "window_ms",
    "cost",
    "time_steps",
    "search",
    "seed",
    "verdict",
    "exhausted",
    "max_admitted",
    "overspend",
    "waste",
    "immortal",
    "recovered",
    "linearizes",
    "states",
    "executions",
    "not_applicable",
    "vacuous",
    "token",
    "waste_token",
    "story",
];

fn has_all_fields(exploration: &Value) {
    for name in EXPLORATION {
        assert!(
            exploration.get(name).is_some(),
            "{name} is missing: {exploration}"
        );
    }
    let verdict = exploration["verdict"].as_str().unwrap();
    assert!(
        ["violated", "proved", "bounded"].contains(&verdict),
        "{verdict}"
    );
    assert_eq!(
        exploration["token"].is_string(),
        verdict == "violated",
        "{exploration}"
    );
    let over = exploration["overspend"].as_u64().unwrap();
    let admitted = exploration["max_admitted"].as_u64().unwrap();
    assert_eq!(
        over,
        admitted.saturating_sub(exploration["limit"].as_u64().unwrap())
    );
}

#[test]
fn explore_prints_what_was_asked_and_what_was_found() {
    let found = run(
        "explore --store atomic-window --workers 3 --attempts 2 --limit 2 --window-ms 500 --cost 1 \
         --fault evict --fault failover=2 --max-faults 2 --persistence aof-no --time-steps 1 --seed 7 --json",
    )
    .json();
    has_all_fields(&found);
    let asked = [
        ("store", Value::from("atomic-window")),
        ("faults", Value::from(vec!["evict", "failover"])),
        ("max_faults", 2.into()),
        ("persistence", "aof-no".into()),
        ("workers", 3.into()),
        ("attempts", 2.into()),
        ("limit", 2.into()),
        ("window_ms", 500.into()),
        ("cost", 1.into()),
        ("time_steps", 1.into()),
        ("search", "exhaustive".into()),
        ("seed", 7.into()),
        ("verdict", "violated".into()),
        ("exhausted", true.into()),
        ("immortal", false.into()),
        ("recovered", true.into()),
        ("not_applicable", false.into()),
        ("vacuous", Value::Array(Vec::new())),
    ];
    for (name, value) in asked {
        assert_eq!(found[name], value, "{name}");
    }
}

#[test]
fn one_fault_in_all_is_the_default_where_any_is_given() {
    let none = run("explore --store split --workers 2 --json").json();
    let some =
        run("explore --store split --workers 2 --fault evict --fault lost-reply --json").json();
    assert_eq!(
        (&none["max_faults"], &some["max_faults"]),
        (&0.into(), &1.into())
    );
}

#[test]
fn the_matrix_prints_an_array_of_cells() {
    let matrix = run("matrix --workers 2 --limit 1 --json").json();
    let cells = matrix["cells"].as_array().expect("an array");
    cells.iter().for_each(has_all_fields);
    let rows = |store: &str| cells.iter().filter(|cell| cell["store"] == store).count();
    let first = rows(catalogue()[0].name());
    for store in catalogue() {
        assert_eq!(
            rows(store.name()),
            first,
            "every store has a cell in every row"
        );
    }
    let contention = |steps: u64| {
        let calm = |cell: &&Value| {
            cell["faults"] == Value::Array(Vec::new()) && cell["time_steps"] == steps
        };
        cells.iter().filter(calm).count()
    };
    assert_eq!(
        (contention(0), contention(1)),
        (catalogue().len(), catalogue().len())
    );
    for fault in Fault::ALL {
        let has = |cell: &Value| {
            cell["faults"]
                .as_array()
                .is_some_and(|kinds| kinds.contains(&fault.name().into()))
        };
        assert!(cells.iter().any(has), "{fault} has a row");
    }
}

#[test]
fn every_violated_cell_has_a_token_that_replays() {
    let matrix = run("matrix --workers 3 --limit 1 --json").json();
    let cells = matrix["cells"].as_array().expect("an array");
    let violated = || cells.iter().filter(|cell| cell["verdict"] == "violated");
    assert!(violated().count() > 100);
    for cell in violated().step_by(5) {
        let token = cell["token"].as_str().expect("a token");
        let again = run(&format!("replay {token} --json"));
        assert_eq!(again.code, 1, "{token}: {}", again.err);
        if cell["overspend"] != 0 {
            assert_eq!(
                again.json()["max_admitted"],
                cell["max_admitted"],
                "{token}"
            );
        }
    }
}

#[test]
fn replay_prints_every_step() {
    let token = run("explore --store split --workers 2 --limit 1 --json").token();
    let replay = run(&format!("replay {token} --json")).json();
    for name in [
        "store",
        "reproduced",
        "max_admitted",
        "overspend",
        "waste",
        "immortal",
        "recovered",
    ] {
        assert!(replay.get(name).is_some(), "{name} is missing");
    }
    let steps = replay["steps"].as_array().expect("an array");
    assert_eq!(steps.len(), token.matches('~').count());
    for name in [
        "at_ms", "actor", "command", "reply", "outcome", "stored", "admitted", "waste", "action",
    ] {
        assert!(
            steps.iter().all(|step| step.get(name).is_some()),
            "{name} is missing"
        );
    }
}

#[test]
fn the_list_names_every_store_and_every_fault() {
    let list = run("list --json").json();
    let names = |of: &str| -> Vec<String> {
        let entries = list[of].as_array().expect("an array").iter();
        entries
            .map(|entry| entry["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    let stores: Vec<String> = catalogue()
        .iter()
        .map(|store| store.name().to_owned())
        .collect();
    let faults: Vec<String> = Fault::ALL
        .iter()
        .map(|fault| fault.name().to_owned())
        .collect();
    assert_eq!((names("stores"), names("faults")), (stores, faults));
    for entry in list["stores"].as_array().expect("an array") {
        let broken = [
            "split",
            "increment-then-expire",
            "memory-per-worker",
            "fail-open",
            "replica-read",
        ];
        let name = entry["name"].as_str().expect("a name");
        assert!(!entry["about"].as_str().expect("a sentence").is_empty());
        assert!(
            !broken.contains(&name) || entry["flaw"].is_string(),
            "{name} says what it does wrong"
        );
    }
}
