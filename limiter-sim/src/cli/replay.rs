//! `limiter-sim replay`.

use serde::Serialize;

use super::args::{ReplayArguments, read_script};
use super::{FINE, VIOLATED, print, print_json};
use crate::report::{self, Style};
use crate::trace::{Step, Token};

#[derive(Serialize)]
struct Replayed<'a> {
    store: &'a str,
    reproduced: bool,
    max_admitted: u64,
    overspend: u64,
    waste: u64,
    immortal: bool,
    recovered: bool,
    linearizes: bool,
    steps: &'a [Step],
}

pub(super) fn run(arguments: &ReplayArguments) -> Result<u8, String> {
    let token: Token = arguments
        .token
        .parse()
        .map_err(|error| format!("{error}"))?;
    let script = arguments.script.as_deref().map(read_script).transpose()?;
    let scenario = token.scenario(script.as_deref())?;
    let replay = token.replay(&scenario)?;
    let figures = replay.figures;
    let reproduced = figures.is_violation();
    if arguments.json {
        print_json(&Replayed {
            store: scenario.subject.name(),
            reproduced,
            max_admitted: figures.max_admitted,
            overspend: figures.overspend,
            waste: figures.waste,
            immortal: figures.immortal,
            recovered: !figures.stuck,
            linearizes: !figures.disordered,
            steps: &replay.steps,
        })?;
    } else {
        print(&report::replayed(&scenario, &replay, Style::of_stdout()));
    }
    Ok(if reproduced { VIOLATED } else { FINE })
}
