//! Histories as their callers see them: calls that begin, end and are told something. Without faults
//! they must linearize against the rule.

use std::collections::BTreeMap;

use super::simulation::Simulation;
use super::{Action, FaultBounds, World};
use crate::choose::Random;
use crate::judge::{Answer, Call, Promise, linearizes};
use crate::process::{Lane, Outcome};
use crate::scenario::Scenario;

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
    let promise = scenario.subject.promise(&scenario.parameters);
    let mut random = Random::seeded(scenario.seed);
    for _ in 0..histories {
        let mut world = simulation.initial();
        let mut calls = Calls::default();
        let mut actions = Vec::new();
        let mut history = Vec::new();
        while !world.is_complete() {
            simulation.actions(&world, &mut actions);
            let action = actions[random.below(actions.len())];
            calls.before(&simulation, &world, action);
            simulation.step(&mut world, action);
            simulation.may_go_on(history.len());
            if let Some(trouble) = &simulation.trouble {
                return Err(trouble.clone());
            }
            calls.after(&simulation, &world);
            history.push(action);
        }
        if !calls.linearize(&promise) {
            return Ok(Some(history));
        }
    }
    Ok(None)
}

/// The calls of one history, written down while its steps are taken.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Those that have begun, by process and client.
    begun: BTreeMap<(usize, usize), Call>,
    ended: Vec<Call>,
    /// The instants that the clock showed.
    clock: Vec<u64>,
    steps: u64,
}

impl Calls {
    /// A step is about to be taken.
    pub(crate) fn before(&mut self, simulation: &Simulation, world: &World, action: Action) {
        self.clock.push(world.now);
        let Action::Go { process, lane, .. } = action else {
            return;
        };
        let number = usize::from(process);
        let lanes = simulation
            .automaton
            .lanes_at(world.processes[number].position);
        if let Lane::Start { client, .. } = lanes[usize::from(lane)] {
            let call = Call {
                steps: self.steps..=u64::MAX,
                instants: world.now..=world.now,
                cost: simulation.scenario.parameters.cost,
                answer: Answer::Unknown,
            };
            self.begun.insert((number, client), call);
        }
    }

    /// A step was taken: some calls may have ended by it.
    pub(crate) fn after(&mut self, simulation: &Simulation, world: &World) {
        self.clock.push(world.now);
        // Processes are told in their order, and so are the calls that have begun.
        let mut outcomes = simulation.happened.outcomes.to_vec();
        let (step, ended) = (self.steps, &mut self.ended);
        self.begun.retain(|(process, client), call| {
            let position = world.processes[*process].position;
            if simulation.automaton.is_at_work(position, *client) {
                return true;
            }
            let told = outcomes.iter().position(|(of, _)| of == client);
            let answer = told.map(|told| outcomes.remove(told).1);
            ended.push(Call {
                steps: *call.steps.start()..=step,
                instants: *call.instants.start()..=world.now,
                cost: call.cost,
                answer: match answer {
                    Some(Outcome::Admitted) => Answer::Admitted,
                    Some(Outcome::Denied) => Answer::Denied,
                    Some(Outcome::Failed) | None => Answer::Unknown,
                },
            });
            false
        });
        self.steps += 1;
    }

    /// Whether there is an order of the calls in which the rule gives each its answer. A call that
    /// has not ended may have charged or not.
    pub(crate) fn linearize(mut self, promise: &Promise) -> bool {
        let last = self.clock.last().copied().unwrap_or(0);
        let open = self.begun.into_values().map(|call| Call {
            instants: *call.instants.start()..=last,
            ..call
        });
        self.ended.extend(open);
        linearizes(&self.ended, &self.clock, promise)
    }
}

#[cfg(test)]
mod tests;
