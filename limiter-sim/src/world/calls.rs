//! Histories as their callers see them: calls that begin, end and are told something. Without faults
//! they must linearize against the rule.

use std::collections::BTreeMap;

use super::simulation::Simulation;
use super::{Action, FaultBounds, World};
use crate::choose::Random;
use crate::judge::{Answer, Call, linearizes};
use crate::process::{Lane, Outcome};
use crate::scenario::{Parameters, Scenario};

/// Follows random histories without faults, and gives the first that does not linearize.
///
/// # Errors
/// Where the modelled server was asked for something that it lacks.
pub(crate) fn first_that_does_not_linearize(
    scenario: &Scenario,
    histories: u64,
) -> Result<Option<Vec<Action>>, String> {
    let mut simulation = Simulation::new(Scenario {
        faults: FaultBounds::default(),
        ..scenario.clone()
    });
    let mut random = Random::seeded(scenario.seed);
    let mut actions = Vec::new();
    for _ in 0..histories {
        let mut world = simulation.initial();
        let (mut history, mut calls) = (Vec::new(), Calls::new(&world));
        while !world.is_complete() {
            simulation.actions(&world, &mut actions);
            let action = actions[random.below(actions.len())];
            calls.step(&mut simulation, &mut world, action);
            if let Some(trouble) = simulation.trouble {
                return Err(trouble);
            }
            history.push(action);
        }
        if !calls.linearize(&scenario.parameters) {
            return Ok(Some(history));
        }
    }
    Ok(None)
}

/// What callers saw of one history so far.
#[derive(Debug)]
pub(crate) struct Calls {
    ended: Vec<Call>,
    /// The calls that have begun, by process and client: in which step, and when.
    begun: BTreeMap<(usize, usize), (u64, u64)>,
    /// The instants that the clock showed.
    clock: Vec<u64>,
    steps: u64,
    disturbed: bool,
}

impl Calls {
    /// Of the history that begins in `world`.
    pub(crate) fn new(world: &World) -> Self {
        Self {
            ended: Vec::new(),
            begun: BTreeMap::new(),
            clock: vec![world.now],
            steps: 0,
            disturbed: false,
        }
    }

    /// Takes a step, and notes which calls begin and end in it.
    pub(crate) fn step(&mut self, simulation: &mut Simulation, world: &mut World, action: Action) {
        if let Some(caller) = caller(simulation, world, action) {
            self.begun.insert(caller, (self.steps, world.now));
        }
        simulation.step(world, action);
        self.disturbed |= action.fault().is_some();
        self.clock.push(world.now);
        self.end(simulation, world);
        self.steps += 1;
    }

    /// Whether what was seen could have been a history of single steps. A history with faults is
    /// not asked: a fault may lose what was counted.
    pub(crate) fn linearize(&self, parameters: &Parameters) -> bool {
        let (limit, window_ms) = (parameters.limit, parameters.window_ms);
        self.disturbed || linearizes(&self.ended, &self.clock, limit, window_ms)
    }

    /// Moves the calls that ended in this step from those that have begun to those that have ended.
    fn end(&mut self, simulation: &Simulation, world: &World) {
        // Processes are told in their order, and so are the calls that have begun.
        let mut outcomes = simulation.happened.outcomes.to_vec();
        let (ended, steps) = (&mut self.ended, self.steps);
        self.begun.retain(|(process, client), (step, at)| {
            let position = world.processes[*process].position;
            if simulation.automaton.is_at_work(position, *client) {
                return true;
            }
            let told = outcomes.iter().position(|(of, _)| of == client);
            // A crash ends a call whose caller is told nothing.
            let answer = told.map_or(Outcome::Failed, |told| outcomes.remove(told).1);
            ended.push(Call {
                steps: *step..=steps,
                instants: *at..=world.now,
                cost: simulation.scenario.parameters.cost,
                answer: match answer {
                    Outcome::Admitted => Answer::Admitted,
                    Outcome::Denied => Answer::Denied,
                    Outcome::Failed => Answer::Unknown,
                },
            });
            false
        });
    }
}

/// Who begins a call by this step, if anybody does.
fn caller(simulation: &Simulation, world: &World, action: Action) -> Option<(usize, usize)> {
    let Action::Go { process, lane, .. } = action else {
        return None;
    };
    let number = usize::from(process);
    let lanes = simulation
        .automaton
        .lanes_at(world.processes[number].position);
    match lanes[usize::from(lane)] {
        Lane::Start { client, .. } => Some((number, client)),
        Lane::Send(_) => None,
    }
}

#[cfg(test)]
mod tests;
