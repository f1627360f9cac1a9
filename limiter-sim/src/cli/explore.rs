//! `limiter-sim explore` and `limiter-sim script`.

use super::args::{ExploreArguments, ScriptArguments};
use super::progress::Progress;
use super::{FINE, VIOLATED, print, print_json};
use crate::report::{Exploration, Style};
use crate::scenario::Scenario;

pub(super) fn run(arguments: &ExploreArguments) -> Result<u8, String> {
    let scenario = arguments.options.scenario(arguments.store.clone())?;
    explore(&scenario, arguments.options.json)
}

pub(super) fn run_script(arguments: &ScriptArguments) -> Result<u8, String> {
    let scenario = arguments.options.scenario(arguments.subject()?)?;
    explore(&scenario, arguments.options.json)
}

fn explore(scenario: &Scenario, json: bool) -> Result<u8, String> {
    let progress = Progress::states(scenario.subject.name());
    let exploration = Exploration::of(scenario, &|states| progress.seen(states));
    progress.finish();
    let exploration = exploration?;
    if json {
        print_json(&exploration)?;
    } else {
        print(&exploration.render(Style::of_stdout()));
    }
    if exploration.verdict != "violated" && !exploration.vacuous.is_empty() {
        let names: Vec<&str> = exploration
            .vacuous
            .iter()
            .map(|fault| fault.name())
            .collect();
        return Err(format!(
            "nothing is shown about {}: it never had a consequence",
            names.join(", ")
        ));
    }
    Ok(if exploration.verdict == "violated" {
        VIOLATED
    } else {
        FINE
    })
}
