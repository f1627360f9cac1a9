//! Output that goes to a file or a pipe is plain text.

use std::process::{Command, Stdio};

use super::{Run, run, run_with};

const EXPLORE: &str = "explore --store split --workers 3 --limit 1";

fn is_plain(run: &Run) {
    assert!(!run.out.contains('\u{1b}'), "{:?}", run.out);
    assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
}

#[test]
fn what_is_no_terminal_gets_no_escape_codes() {
    for command in [
        EXPLORE,
        "matrix --workers 2 --limit 1",
        "list",
        "--help",
        "nope",
    ] {
        is_plain(&run(command));
    }
}

#[test]
fn no_color_and_its_opposites_change_nothing_where_there_is_no_terminal() {
    let usual = run(EXPLORE).out;
    for variables in [
        &[("NO_COLOR", "1")][..],
        &[("NO_COLOR", "")],
        &[
            ("CLICOLOR_FORCE", "1"),
            ("FORCE_COLOR", "1"),
            ("TERM", "xterm-256color"),
        ],
        &[("TERM", "dumb"), ("COLUMNS", "20")],
    ] {
        let run = run_with(EXPLORE, |command| {
            command.envs(variables.iter().copied());
        });
        is_plain(&run);
        assert_eq!(run.out, usual, "{variables:?}");
    }
}

#[test]
fn progress_is_not_told_where_there_is_no_terminal() {
    for command in [EXPLORE, "matrix --workers 2 --limit 1"] {
        assert_eq!(run(command).err, "");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    // More than a pipe holds, so that it is written to after it was closed.
    let mut program = Command::new(env!("CARGO_BIN_EXE_limiter-sim"))
        .args(["matrix", "--workers", "2", "--limit", "1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built");
    drop(program.stdout.take());
    let ended = program.wait_with_output().expect("it ends");
    assert_eq!(
        (ended.status.code(), ended.stderr.as_slice()),
        (Some(0), &b""[..])
    );
}

#[test]
fn the_table_of_a_small_matrix_fits_into_100_columns() {
    let matrix = run("matrix --workers 2 --limit 1").out;
    for line in matrix.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn the_story_ends_with_the_line_that_replays_it() {
    let found = run(EXPLORE).out;
    let line = found
        .lines()
        .rfind(|line| line.starts_with("limiter-sim replay "));
    let token = line
        .expect("a line to paste")
        .trim_start_matches("limiter-sim replay ");
    assert_eq!(run(&format!("replay {token}")).code, 1);
}
