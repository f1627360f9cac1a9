//! Histories at random: for what is too large to exhaust.

use std::sync::Mutex;

use super::aside::Aside;
use super::visited::Visited;
use super::{Findings, Progress};
use crate::choose::Random;
use crate::scenario::{Scenario, Search};
use crate::threads;
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

/// Histories that one thread follows before it takes others: each such batch has random numbers of its own, so
/// that what is found depends on no thread.
const BATCH: u64 = 1 << 12;

/// Follows `runs` histories.
pub(super) fn search(scenario: &Scenario, runs: u64, progress: Progress<'_>) -> (Findings, Aside) {
    let batches = usize::try_from(runs.div_ceil(BATCH)).unwrap_or(usize::MAX);
    let visited = Mutex::new(Visited::default());
    let begin = || Simulation::new(scenario.clone());
    let sample = |simulation: &mut Simulation, batch: usize| {
        let batch = batch as u64;
        let runs = BATCH.min(runs - batch * BATCH);
        let random = Random::stream(scenario.seed, batch);
        let (found, seen) = match scenario.search {
            Search::Pct => sample(simulation, &mut super::pct::Pct::default(), runs, random),
            Search::Random | Search::Exhaustive => sample(simulation, &mut Uniform, runs, random),
        };
        let mut visited = visited.lock().expect("nobody panics while it is locked");
        visited.add(seen);
        progress(visited.len());
        (found, Aside::of(simulation))
    };
    let mut findings = Findings::default();
    let mut aside = Aside::default();
    for (found, noticed) in threads::share(scenario.threads, batches, begin, sample) {
        findings.go_on_with(found);
        aside.add(noticed);
    }
    findings.states = visited.into_inner().expect("no thread panicked").len();
    (findings, aside)
}

fn sample(
    simulation: &mut Simulation,
    strategy: &mut dyn Strategy,
    runs: u64,
    mut random: Random,
) -> (Findings, Visited) {
    let mut findings = Findings::default();
    let mut visited = Visited::default();
    let initial = simulation.initial();
    visited.insert(&initial, true);
    let mut actions: Vec<Action> = Vec::new();
    let mut history: Vec<Action> = Vec::new();
    for _ in 0..runs {
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
            if simulation.trouble.is_some() || !simulation.may_go_on(history.len()) {
                return (findings, visited);
            }
            visited.insert(&world, true);
        }
        findings.paths += 1;
        findings.states = visited.len();
        findings.complete(simulation.figures(&world), || history.clone());
    }
    (findings, visited)
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
