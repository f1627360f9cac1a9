//! Making a counterexample as small as it can be told.

use std::collections::BTreeSet;

use super::replay::is_disordered;
use crate::scenario::Scenario;
use crate::search::Figures;
use crate::world::{Action, Calls, Simulation, World};

/// A shorter history that shows as much: no step can be left out, no two steps of one worker could
/// follow each other where they do not, and workers are numbered in the order in which they appear.
pub(crate) fn shrink(scenario: &Scenario, history: &[Action]) -> Vec<Action> {
    let mut simulation = Simulation::new(scenario.clone());
    let target = outcome(&mut simulation, history, true);
    // Orders are only looked for where they are what the history is told for.
    let ordered = target.figures.is_told_for_its_order();
    let mut best = target.taken.clone();
    let mut is_as_bad = |candidate: &[Action]| {
        let result = outcome(&mut simulation, candidate, ordered);
        result
            .figures
            .shows(&target.figures)
            .then_some(result.taken)
    };
    remove_workers(&mut best, &mut is_as_bad);
    remove_steps(&mut best, &mut is_as_bad);
    join_steps(&mut best, &mut is_as_bad);
    // Steps that are together now may be left out together.
    remove_steps(&mut best, &mut is_as_bad);
    {
        let renamed = rename(&best);
        if is_as_bad(&renamed).as_deref() == Some(&renamed) {
            best = renamed;
        }
    }
    best
}

type Judge<'a> = dyn FnMut(&[Action]) -> Option<Vec<Action>> + 'a;

/// Leaves out all that a worker does: where an attempt has to end, no part of it can be left out.
fn remove_workers(best: &mut Vec<Action>, is_as_bad: &mut Judge<'_>) {
    let workers: BTreeSet<u16> = best.iter().filter_map(|step| step.process()).collect();
    for worker in workers {
        let others = best.iter().filter(|step| step.process() != Some(worker));
        let candidate: Vec<Action> = others.copied().collect();
        if let Some(shorter) = is_as_bad(&candidate) {
            *best = shorter;
        }
    }
}

/// A whole attempt has this many steps, if it has not many.
const ATTEMPT: usize = 6;

/// Leaves out steps, many at once first.
fn remove_steps(best: &mut Vec<Action>, is_as_bad: &mut Judge<'_>) {
    let mut chunk = best.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < best.len() {
            let mut candidate = best.clone();
            candidate.drain(at..(at + chunk).min(best.len()));
            match is_as_bad(&candidate) {
                Some(shorter) if shorter.len() < best.len() => *best = shorter,
                _ => at += if chunk > ATTEMPT { chunk } else { 1 },
            }
        }
        chunk = match chunk {
            many if many > ATTEMPT => many / 2,
            few => few - 1,
        };
    }
}

/// Lets a worker go on where it can, instead of switching to another and back.
fn join_steps(best: &mut Vec<Action>, is_as_bad: &mut Judge<'_>) {
    for at in 0..best.len().saturating_sub(1) {
        let Some(next) = (at + 1..best.len()).find(|next| same_actor(best[at], best[*next])) else {
            continue;
        };
        let mut candidate = best.clone();
        let moved = candidate.remove(next);
        candidate.insert(at + 1, moved);
        if switches(&candidate) < switches(best)
            && is_as_bad(&candidate).as_deref() == Some(&candidate)
        {
            *best = candidate;
        }
    }
}

fn same_actor(one: Action, other: Action) -> bool {
    one.process().is_some() && one.process() == other.process()
}

fn switches(history: &[Action]) -> usize {
    history
        .windows(2)
        .filter(|pair| !same_actor(pair[0], pair[1]))
        .count()
}

fn rename(history: &[Action]) -> Vec<Action> {
    let mut seen: Vec<u16> = Vec::new();
    let mut name = |process: u16| {
        let known = seen.iter().position(|worker| *worker == process);
        let number = known.unwrap_or_else(|| {
            seen.push(process);
            seen.len() - 1
        });
        u16::try_from(number).expect("no more than there were")
    };
    history
        .iter()
        .map(|action| action.renamed(&mut name))
        .collect()
}

struct Result {
    /// The steps that were possible.
    taken: Vec<Action>,
    figures: Figures,
}

/// Takes what is possible of `history` and judges where it ends, and with `ordered` also whether some
/// order of the calls explains their answers.
fn outcome(simulation: &mut Simulation, history: &[Action], ordered: bool) -> Result {
    let mut world: World = simulation.initial();
    let mut taken = Vec::with_capacity(history.len());
    let mut calls = Calls::default();
    for action in history {
        if simulation.allows(&world, *action) {
            calls.before(simulation, &world, *action);
            simulation.step(&mut world, *action);
            calls.after(simulation, &world);
            taken.push(*action);
        }
    }
    let disordered = ordered && is_disordered(&simulation.scenario, &taken, calls);
    let figures = Figures {
        disordered,
        ..simulation.figures(&world)
    };
    Result { taken, figures }
}
