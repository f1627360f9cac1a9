//! The command line: a contract.

mod exit_codes;
mod json;
mod plain;
mod readme;
mod refusals;
mod script;
mod server;

use std::process::{Command, Output};

/// What one run of the program did.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the program on arguments, separated by spaces. It must not panic, whatever they are.
pub(crate) fn run(arguments: &str) -> Run {
    run_with(arguments, |_| ())
}

/// The same in another environment.
pub(crate) fn run_with(arguments: &str, prepare: impl Fn(&mut Command)) -> Run {
    let words: Vec<&str> = arguments
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect();
    run_words(&words, prepare)
}

/// The same with arguments that may hold spaces.
pub(crate) fn run_words(arguments: &[&str], prepare: impl Fn(&mut Command)) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_limiter-sim"));
    command.args(arguments);
    prepare(&mut command);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program was built");
    let run = Run {
        code: status.code().expect("no signal ended it"),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    };
    assert!(!run.err.contains("panicked"), "{arguments:?}: {}", run.err);
    run
}

impl Run {
    /// What it printed, as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// The token that it found.
    pub(crate) fn token(&self) -> String {
        let token = self.json()["token"].as_str().map(str::to_owned);
        token.unwrap_or_else(|| panic!("there is a token: {}", self.out))
    }
}
