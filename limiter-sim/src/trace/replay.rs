//! Taking the steps of a token again, with freshly run client code.

use std::sync::Arc;

use super::step::check;
use super::{Step, Token};
use crate::process::Outcome;
use crate::scenario::Scenario;
use crate::search::Figures;
use crate::subject::{self, Call, Script, Subject};
use crate::world::{Action, Calls, Simulation};

/// What a history did when it was taken again.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    pub(crate) steps: Vec<Step>,
    /// For each step, the two digits that tell what it did.
    pub(crate) checks: Vec<u8>,
    /// For each step, what whoever takes it elsewhere has to know.
    pub(crate) moments: Vec<Moment>,
    pub(crate) figures: Figures,
}

/// What a step did, as far as it is to be done elsewhere in the same way.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    /// Requests that were executed or lost in this step.
    pub(crate) exchanges: usize,
    pub(crate) outcomes: Vec<Outcome>,
    /// How much disks and replicas can know after it.
    pub(crate) log_len: usize,
    /// After it a key is in the last millisecond of its life.
    pub(crate) at_a_deadline: bool,
}

/// Takes `history` from the beginning.
///
/// # Errors
/// Where a step is not possible: which one, and why.
pub(crate) fn replay(scenario: &Scenario, history: &[Action]) -> Result<Replay, String> {
    let mut simulation = Simulation::new(Scenario {
        unmemoised: true,
        ..scenario.clone()
    });
    let mut world = simulation.initial();
    let mut steps = Vec::with_capacity(history.len());
    let mut checks = Vec::with_capacity(history.len());
    let mut moments = Vec::with_capacity(history.len());
    let mut calls = Calls::default();
    for (number, action) in history.iter().enumerate() {
        if !simulation.allows(&world, *action) {
            return Err(format!(
                "step {} ({action}) is not possible there",
                number + 1
            ));
        }
        calls.before(&simulation, &world, *action);
        simulation.step(&mut world, *action);
        calls.after(&simulation, &world);
        if let Some(trouble) = simulation.trouble {
            return Err(trouble);
        }
        checks.push(check(&simulation.happened));
        let happened = &simulation.happened;
        let outcomes = happened.outcomes.iter();
        moments.push(Moment {
            exchanges: happened.exchanges.len(),
            outcomes: outcomes.map(|(_, outcome)| *outcome).collect(),
            log_len: world.log_len(),
            at_a_deadline: world.is_at_a_deadline(),
        });
        steps.push(Step::told(*action, happened, &world));
    }
    Ok(Replay {
        steps,
        checks,
        moments,
        figures: Figures {
            disordered: is_disordered(scenario, history, calls),
            ..simulation.figures(&world)
        },
    })
}

/// Whether no order of the calls of `history` explains their answers, although nothing failed.
pub(super) fn is_disordered(scenario: &Scenario, history: &[Action], calls: Calls) -> bool {
    let undisturbed = history.iter().all(|action| action.fault().is_none());
    let promise = scenario.subject.promise(&scenario.parameters);
    scenario.subject.unordered().is_none() && undisturbed && !calls.linearize(&promise)
}

impl Token {
    /// The token of a history that was just taken.
    pub(crate) fn of(scenario: &Scenario, history: &[Action], replay: &Replay) -> Self {
        Self {
            subject: scenario.subject.name().to_owned(),
            parameters: scenario.parameters.clone(),
            persistence: scenario.persistence,
            script: scenario.subject.script().cloned(),
            steps: history
                .iter()
                .copied()
                .zip(replay.checks.iter().copied())
                .collect(),
        }
    }

    /// The scenario that the token belongs to; `source` is the script, if it belongs to one.
    ///
    /// # Errors
    /// Where there is no such store, the script is another one, or a number is out of bounds.
    pub(crate) fn scenario(&self, source: Option<&str>) -> Result<Scenario, String> {
        let subject: Arc<dyn Subject> = match &self.script {
            Some(call) => Arc::new(self.with_source(call, source)?),
            None => subject::named(&self.subject).ok_or_else(|| {
                format!(
                    "the token is of a store that is not here: {:?}",
                    self.subject
                )
            })?,
        };
        let mut scenario = Scenario::new(subject)
            .parameters(self.parameters.clone())
            .persistence(self.persistence);
        scenario.keep_log = true;
        scenario.check()?;
        Ok(scenario)
    }

    fn with_source(&self, call: &Call, source: Option<&str>) -> Result<Script, String> {
        let source = source.ok_or_else(|| {
            format!(
                "the token is of a script, {}: name its file with --script",
                self.subject
            )
        })?;
        let script = Script::called(&self.subject, source, call.clone());
        let sha = script.script().map_or("", |call| &call.sha);
        if sha != call.sha {
            return Err(format!(
                "the token is of a script with SHA-1 {}; this one has {sha}",
                call.sha
            ));
        }
        Ok(script)
    }

    /// Takes the token's steps again, and checks that each does what it did.
    ///
    /// # Errors
    /// Where the code does something else since: at which step it drifted.
    pub(crate) fn replay(&self, scenario: &Scenario) -> Result<Replay, String> {
        let history: Vec<Action> = self.steps.iter().map(|(action, _)| *action).collect();
        let replay = replay(scenario, &history)?;
        let drifted = self
            .steps
            .iter()
            .zip(&replay.checks)
            .position(|((_, was), is)| was != is);
        match drifted {
            Some(number) => Err(format!(
                "the code has changed since: step {} ({}) now does {} and is answered {}",
                number + 1,
                self.steps[number].0,
                replay.steps[number].command,
                replay.steps[number].reply,
            )),
            None => Ok(replay),
        }
    }
}
