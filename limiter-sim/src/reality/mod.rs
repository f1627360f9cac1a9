//! A history taken again on real server processes.
//!
//! The client code is the same, and it still meets the world at its seam; but behind the seam each
//! request goes to a real server, over a connection of its own, when its turn comes. What the model
//! calls a lost reply is a connection that is cut after the server has executed; a restart is a
//! `SIGKILL` and a start in the same directory; a failover is a real replica that was cut off and is
//! promoted. Time is waited for.
//!
//! `server` owns a process, `fleet` the processes of one history, `stage` takes the steps, `sequel`
//! asks what is left when they are over.

mod client;
mod fleet;
mod line;
mod plan;
mod sequel;
mod server;
mod slow_disk;
mod stage;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::{Serialize, Serializer};

use crate::process::Outcome;
use crate::scenario::Scenario;
use crate::search::Figures;
use crate::server::Config;
use crate::trace::{Replay, Token, replay};
use crate::world::Action;
use stage::Stage;

/// One history, in the model and on real servers.
#[derive(Debug)]
pub(crate) struct Reality {
    /// What the real server says that it is.
    pub(crate) server: String,
    pub(crate) model: Replay,
    /// What each step did; shorter than the model's where a step was not possible any more.
    pub(crate) real: Vec<RealStep>,
    pub(crate) figures: Figures,
}

/// What one step did on the real servers.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct RealStep {
    /// The reply to each request; `None` where none came.
    pub(crate) replies: Vec<Option<String>>,
    #[serde(serialize_with = "words")]
    pub(crate) outcomes: Vec<Outcome>,
    /// The keys of the server that takes writes.
    pub(crate) stored: String,
}

fn words<S: Serializer>(outcomes: &[Outcome], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(outcomes.iter().map(|outcome| outcome.word()))
}

impl Reality {
    /// The first step, from 0, after which a caller was told something else than in the model, or
    /// which was not possible.
    pub(crate) fn parts_at(&self) -> Option<usize> {
        let moments = self.model.moments.iter().enumerate();
        moments
            .map(|(number, moment)| (number, &moment.outcomes))
            .find(|(number, told)| {
                let real = self.real.get(*number);
                real.is_none_or(|real| real.outcomes != **told)
            })
            .map(|(number, _)| number)
    }

    /// Whether the real servers show at least what the model shows, and that is a violation.
    pub(crate) fn is_reproduced(&self) -> bool {
        self.model.figures.is_violation() && self.figures.shows(&self.model.figures)
    }
}

/// Takes the token's history in the model and on servers of the program at `path`.
///
/// # Errors
/// Where the program is not a server that the model knows, where it cannot be driven as the history
/// asks (no process can lose its host's power, or have its host's clock set), and where the history
/// drifts in the model already.
pub(crate) fn reproduce(
    token: &Token,
    scenario: &Scenario,
    path: &Path,
) -> Result<Reality, String> {
    let model = token.replay(scenario)?;
    let history: Vec<Action> = token.steps.iter().map(|(action, _)| *action).collect();
    plan::check(&history, scenario)?;
    let path = &server::program(path)?;
    let version = server::version(path)?;
    // The same history as this version takes it: tokens are made with the default one.
    let scenario = scenario.clone().server(Config::new(version));
    let model = if version == Config::default().version {
        model
    } else {
        replay(&scenario, &history)?
    };
    let plan = plan::Plan::of(&history, &model)?;

    let mut stage = Stage::new(&scenario, path, plan)?;
    let mut real = Vec::with_capacity(history.len());
    for (action, moment) in history.iter().zip(&model.moments) {
        match stage.step(*action, moment)? {
            Some(step) => real.push(step),
            None => break,
        }
    }
    let figures = stage.figures()?;
    let mut reality = Reality {
        server: stage.server_name().to_owned(),
        model,
        real,
        figures,
    };
    // What callers were told in which order is the same history, where it is the same.
    reality.figures.disordered = reality.model.figures.disordered && reality.parts_at().is_none();
    Ok(reality)
}
