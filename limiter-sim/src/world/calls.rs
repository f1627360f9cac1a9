//! Histories as their callers see them: calls that begin, end and are told something. Without faults
//! they must linearize against the rule.

use std::collections::BTreeMap;

use super::simulation::Simulation;
use super::{Action, FaultBounds, World};
use crate::choose::Random;
use crate::judge::{Answer, Call, linearizes};
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
    let parameters = scenario.parameters.clone();
    let mut random = Random::seeded(scenario.seed);
    for _ in 0..histories {
        let seen = simulation.seen(&mut random)?;
        if !linearizes(
            &seen.calls,
            &seen.clock,
            parameters.limit,
            parameters.window_ms,
        ) {
            return Ok(Some(seen.history));
        }
    }
    Ok(None)
}

/// What callers saw of one history.
struct Seen {
    history: Vec<Action>,
    calls: Vec<Call>,
    /// The instants that the clock showed.
    clock: Vec<u64>,
}

/// The calls that have begun, by process and client: in which step, and when.
type Begun = BTreeMap<(usize, usize), (u64, u64)>;

impl Simulation {
    /// Follows one random history.
    fn seen(&mut self, random: &mut Random) -> Result<Seen, String> {
        let mut world = self.initial();
        let mut begun = Begun::new();
        let mut actions = Vec::new();
        let mut seen = Seen {
            history: Vec::new(),
            calls: Vec::new(),
            clock: vec![world.now],
        };
        while !world.is_complete() {
            self.actions(&world, &mut actions);
            let action = actions[random.below(actions.len())];
            let number = seen.history.len() as u64;
            if let Some(caller) = self.caller(&world, action) {
                begun.insert(caller, (number, world.now));
            }
            self.step(&mut world, action);
            if let Some(trouble) = &self.trouble {
                return Err(trouble.clone());
            }
            seen.history.push(action);
            seen.clock.push(world.now);
            self.end_calls(&world, &mut begun, number, &mut seen.calls);
        }
        Ok(seen)
    }

    /// Who begins a call by this step, if anybody does.
    fn caller(&self, world: &World, action: Action) -> Option<(usize, usize)> {
        let Action::Go { process, lane, .. } = action else {
            return None;
        };
        let number = usize::from(process);
        let lanes = self.automaton.lanes_at(world.processes[number].position);
        match lanes[usize::from(lane)] {
            Lane::Start { client, .. } => Some((number, client)),
            Lane::Send(_) => None,
        }
    }

    /// Moves the calls that ended in step `number` from `begun` to `calls`.
    fn end_calls(&self, world: &World, begun: &mut Begun, number: u64, calls: &mut Vec<Call>) {
        // Processes are told in their order, and so are the calls that have begun.
        let mut outcomes = self.happened.outcomes.to_vec();
        begun.retain(|(process, client), (step, at)| {
            let position = world.processes[*process].position;
            if self.automaton.is_at_work(position, *client) {
                return true;
            }
            let told = outcomes.iter().position(|(of, _)| of == client);
            let told = told.expect("who is at work no more was told something");
            calls.push(Call {
                steps: *step..=number,
                instants: *at..=world.now,
                cost: self.scenario.parameters.cost,
                answer: match outcomes.remove(told).1 {
                    Outcome::Admitted => Answer::Admitted,
                    Outcome::Denied => Answer::Denied,
                    Outcome::Failed => Answer::Unknown,
                },
            });
            false
        });
    }
}

#[cfg(test)]
mod tests;
