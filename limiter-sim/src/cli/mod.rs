//! The command line: a contract. Exit codes: 0 ran and found no violation, 1 found or reproduced
//! one, 2 bad arguments, bad token, drift or an unusable server.

mod args;
mod explore;
mod list;
mod matrix;
mod progress;
mod replay;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use args::{Arguments, Command};

/// Ran, and found no violation.
const FINE: u8 = 0;
/// Found a violation, or reproduced the one that the token names.
const VIOLATED: u8 = 1;
/// Bad arguments, bad token, drift, or an unusable server.
const UNUSABLE: u8 = 2;

/// Runs the program on its own arguments.
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => return refuse(&first_line(&error.to_string())),
        Err(help) => help.exit(),
    };
    let result = match arguments.command {
        None => matrix::run(&arguments.matrix),
        Some(Command::Matrix(arguments)) => matrix::run(&arguments),
        Some(Command::Explore(arguments)) => explore::run(&arguments),
        Some(Command::Script(arguments)) => explore::run_script(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::List(arguments)) => list::run(&arguments),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(message) => refuse(&message),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("limiter-sim: {message}");
    ExitCode::from(UNUSABLE)
}

/// What is wrong with the arguments, in one line: what comes before the first empty line, which may
/// go on to name what is missing or possible. The rest of clap's text is usage.
fn first_line(text: &str) -> String {
    let wrong = text.lines().take_while(|line| !line.trim().is_empty());
    let line = wrong.map(str::trim).collect::<Vec<&str>>().join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// Prints, and takes a closed pipe (`limiter-sim | head`) for the reader's wish to see no more.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn print_json(value: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    print(&(text + "\n"));
    Ok(())
}
