//! Histories at random: for what is too large to exhaust.

use super::Findings;
use super::visited::Visited;
use crate::choose::Random;
use crate::scenario::Search;
use crate::world::{Action, Fault, Simulation};

/// A way to choose the next step of a random history.
pub(super) trait Strategy {
    /// A new history begins; the one before had `steps` steps.
    fn begin(&mut self, steps: usize, random: &mut Random);

    /// Chooses one of `actions`, which are not empty.
    fn choose(&mut self, actions: &[Action], random: &mut Random) -> usize;
}

/// Every step with the same probability.
pub(super) struct Uniform;

impl Strategy for Uniform {
    fn begin(&mut self, _: usize, _: &mut Random) {}

    fn choose(&mut self, actions: &[Action], random: &mut Random) -> usize {
        random.below(actions.len())
    }
}

/// Follows `runs` histories.
pub(super) fn search(simulation: &mut Simulation, runs: u64, progress: &dyn Fn(u64)) -> Findings {
    match simulation.scenario.search {
        Search::Pct => sample(simulation, &mut super::pct::Pct::default(), runs, progress),
        Search::Random | Search::Exhaustive => sample(simulation, &mut Uniform, runs, progress),
    }
}

fn sample(
    simulation: &mut Simulation,
    strategy: &mut dyn Strategy,
    runs: u64,
    progress: &dyn Fn(u64),
) -> Findings {
    let mut findings = Findings::default();
    let mut visited = Visited::default();
    let mut random = Random::seeded(simulation.scenario.seed);
    let initial = simulation.initial();
    visited.insert(&initial, true);
    let mut actions: Vec<Action> = Vec::new();
    let mut history: Vec<Action> = Vec::new();
    for run in 0..runs {
        let mut world = initial.clone();
        strategy.begin(history.len(), &mut random);
        history.clear();
        let swarm = Swarm::new(simulation, &mut random);
        while !world.is_complete() {
            simulation.actions(&world, &mut actions);
            actions.retain(|action| swarm.allows(*action));
            let action = actions[strategy.choose(&actions, &mut random)];
            history.push(action);
            simulation.step(&mut world, action);
            findings.steps += 1;
            if simulation.trouble.is_some() {
                return findings;
            }
            visited.insert(&world, true);
        }
        findings.paths += 1;
        findings.states = visited.len();
        findings.complete(simulation.figures(&world), || history.clone());
        if run.is_multiple_of(1 << 12) {
            progress(visited.len());
        }
    }
    findings
}

/// The kinds of faults that one history may have, drawn anew for each: histories with few kinds go
/// deeper into each than histories with all of them (Groce et al., ISSTA 2012).
struct Swarm(Vec<Fault>);

impl Swarm {
    fn new(simulation: &Simulation, random: &mut Random) -> Self {
        let kinds: Vec<Fault> = simulation
            .scenario
            .faults
            .kinds
            .iter()
            .map(|(kind, _)| *kind)
            .collect();
        if kinds.len() < 2 {
            return Self(kinds);
        }
        let mut drawn: Vec<Fault> = kinds
            .iter()
            .copied()
            .filter(|_| random.below(2) == 0)
            .collect();
        if drawn.is_empty() {
            drawn.push(kinds[random.below(kinds.len())]);
        }
        Self(drawn)
    }

    fn allows(&self, action: Action) -> bool {
        action.fault().is_none_or(|fault| self.0.contains(&fault))
    }
}
