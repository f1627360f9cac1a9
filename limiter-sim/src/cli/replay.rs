//! `limiter-sim replay`.

use std::path::Path;

use serde::Serialize;

use super::args::{ReplayArguments, read_script};
use super::{FINE, VIOLATED, print, print_json};
use crate::reality::{self, Reality};
use crate::report::{self, Style};
use crate::scenario::Scenario;
use crate::search::Figures;
use crate::trace::{Step, Token};

#[derive(Serialize)]
struct Replayed<'a> {
    store: &'a str,
    reproduced: bool,
    #[serde(flatten)]
    figures: Told,
    steps: &'a [Step],
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<OnServer<'a>>,
}

#[derive(Serialize)]
struct OnServer<'a> {
    name: &'a str,
    reproduced: bool,
    #[serde(flatten)]
    figures: Told,
    /// The first step, from 1, after which a caller was told something else than in the model.
    parts_at: Option<usize>,
    steps: &'a [reality::RealStep],
}

#[derive(Serialize)]
struct Told {
    max_admitted: u64,
    overspend: u64,
    waste: u64,
    immortal: bool,
    recovered: bool,
    linearizes: bool,
}

impl From<Figures> for Told {
    fn from(figures: Figures) -> Self {
        Self {
            max_admitted: figures.max_admitted,
            overspend: figures.overspend,
            waste: figures.waste,
            immortal: figures.immortal,
            recovered: !figures.stuck,
            linearizes: !figures.disordered,
        }
    }
}

pub(super) fn run(arguments: &ReplayArguments) -> Result<u8, String> {
    let token: Token = arguments
        .token
        .parse()
        .map_err(|error| format!("{error}"))?;
    if let (Some(path), false) = (&arguments.script, token.script.is_some()) {
        return Err(format!(
            "the token is of the store {}, which has no file: leave out --script {}",
            token.subject,
            path.display()
        ));
    }
    let script = arguments.script.as_deref().map(read_script).transpose()?;
    let scenario = token.scenario(script.as_deref())?;
    match &arguments.server {
        Some(path) => on_server(&token, &scenario, path, arguments.json),
        None => in_model(&token, &scenario, arguments.json),
    }
}

fn in_model(token: &Token, scenario: &Scenario, json: bool) -> Result<u8, String> {
    let replay = token.replay(scenario)?;
    let reproduced = replay.figures.is_violation();
    if json {
        print_json(&Replayed {
            store: scenario.subject.name(),
            reproduced,
            figures: replay.figures.into(),
            steps: &replay.steps,
            server: None,
        })?;
    } else {
        print(&report::replayed(scenario, &replay, Style::of_stdout()));
    }
    Ok(if reproduced { VIOLATED } else { FINE })
}

fn on_server(token: &Token, scenario: &Scenario, path: &Path, json: bool) -> Result<u8, String> {
    let reality = reality::reproduce(token, scenario, path)?;
    let reproduced = reality.is_reproduced();
    if json {
        let Reality {
            server,
            model,
            real,
            figures,
        } = &reality;
        print_json(&Replayed {
            store: scenario.subject.name(),
            reproduced,
            figures: model.figures.into(),
            steps: &model.steps,
            server: Some(OnServer {
                name: server,
                reproduced,
                figures: (*figures).into(),
                parts_at: reality.parts_at().map(|step| step + 1),
                steps: real,
            }),
        })?;
    } else {
        let style = Style::of_stdout();
        print(&report::side_by_side(scenario, &reality, style));
    }
    Ok(if reproduced { VIOLATED } else { FINE })
}
