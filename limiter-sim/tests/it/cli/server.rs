//! `replay --server`: the same history on a real server.

use super::{Run, run, run_with};

/// A server of the machine: the one on the PATH.
fn server() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|dir| dir.join("redis-server"));
    let found = programs.find(|program| program.is_file());
    found
        .expect("a redis-server on the PATH")
        .display()
        .to_string()
}

const SPLIT: &str = "explore --store split --workers 3 --limit 1 --json";

fn replayed(token: &str, more: &str) -> Run {
    run(&format!("replay {token} --server {} {more}", server()))
}

#[test]
fn a_violation_that_is_reproduced_exits_1_and_shows_both_sides() {
    let token = run(SPLIT).token();
    let told = replayed(&token, "");
    assert_eq!((told.code, told.err.as_str()), (1, ""));
    for part in [
        "model: reply",
        "server: reply",
        "model: violated: 3 admitted in one window against a limit of 1",
        "Redis ",
        "every caller was told the same on both sides; the violation is reproduced",
    ] {
        assert!(told.out.contains(part), "{part} is missing: {}", told.out);
    }
}

#[test]
fn as_json_the_server_has_figures_and_steps_of_its_own() {
    let token = run(SPLIT).token();
    let told = replayed(&token, "--json");
    assert_eq!((told.code, told.err.as_str()), (1, ""));
    let json = told.json();
    let real = &json["server"];
    assert_eq!(real["reproduced"], true);
    assert_eq!(
        (&real["max_admitted"], &json["max_admitted"]),
        (&3.into(), &3.into())
    );
    assert!(real["parts_at"].is_null());
    let steps = |of: &serde_json::Value| of["steps"].as_array().expect("an array").len();
    assert_eq!(steps(real), steps(&json));
}

#[test]
fn waste_is_reproduced_and_is_no_violation() {
    let retry = "explore --store atomic-window-retry --workers 2 --fault lost-reply --json";
    let json = run(retry).json();
    let token = json["waste_token"].as_str().expect("a token");
    let told = replayed(token, "");
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    let waste = "the waste, which is no violation, is reproduced";
    assert!(told.out.contains(waste), "{}", told.out);
}

fn is_refused(told: &Run, what: &str) {
    assert_eq!((told.code, told.out.as_str()), (2, ""));
    assert_eq!(told.err.lines().count(), 1, "{}", told.err);
    assert!(told.err.contains(what), "{}", told.err);
}

#[test]
fn a_server_is_found_by_a_relative_path_and_by_its_name() {
    let token = run(SPLIT).token();
    let server = server();
    let (directory, name) = server.rsplit_once('/').expect("a path");
    for program in [format!("./{name}"), name.to_owned()] {
        let told = run_with(&format!("replay {token} --server {program}"), |command| {
            command.current_dir(directory);
        });
        assert_eq!((told.code, told.err.as_str()), (1, ""), "{program}");
    }
}

#[test]
fn a_program_that_is_no_server_is_named() {
    let token = run(SPLIT).token();
    for program in ["/nowhere/redis-server", "/bin/false", "/bin"] {
        let told = run(&format!("replay {token} --server {program}"));
        is_refused(&told, &format!("{program} is no server that can be used"));
    }
}

#[test]
fn a_history_that_processes_cannot_take_says_why() {
    let power =
        run("explore --store atomic-window --workers 2 --limit 1 --fault power-loss --json");
    is_refused(&replayed(&power.token(), ""), "is a loss of power");
    let clock =
        run("explore --store atomic-window --workers 2 --limit 1 --fault clock-jump --json");
    is_refused(
        &replayed(&clock.token(), ""),
        "sets the clock of a server's host",
    );
}
