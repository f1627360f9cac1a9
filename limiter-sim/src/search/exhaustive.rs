//! Every reachable state, once: depth first, with a set of the states that were seen.
//!
//! A search that is cut short has seen the ends of few histories in every order, and the beginnings
//! of the others in none. So one is cut at half of its states, and the other half is searched in
//! another order.

use super::visited::Visited;
use super::{Findings, Progress};
use crate::world::{Action, Simulation, World};

/// A state on the path from the beginning, and what is still to be tried in it.
struct Frame {
    world: World,
    actions: Vec<Action>,
    next: usize,
}

/// How often progress is told, in states.
const PROGRESS_EVERY: u64 = 1 << 14;

/// What is tried first in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// That a client goes on.
    ClientsFirst,
    /// That something fails.
    FaultsFirst,
}

/// Explores every state, or as many as `max_states`.
pub(super) fn search(
    simulation: &mut Simulation,
    max_states: u64,
    progress: Progress<'_>,
) -> Findings {
    let mut findings = Findings::default();
    let mut visited = Visited::default();
    let half = match simulation.scenario.faults.total {
        0 => max_states,
        _ => max_states / 2,
    };
    findings.exhausted = true;
    pass(
        simulation,
        &mut findings,
        &mut visited,
        (Order::ClientsFirst, half),
        progress,
    );
    if !findings.exhausted && half < max_states {
        findings.renew_patience();
        pass(
            simulation,
            &mut findings,
            &mut visited,
            (Order::FaultsFirst, max_states),
            progress,
        );
    }
    findings
}

fn pass(
    simulation: &mut Simulation,
    findings: &mut Findings,
    visited: &mut Visited,
    (order, max_states): (Order, u64),
    progress: Progress<'_>,
) {
    let mut path: Vec<Frame> = Vec::new();
    let mut spare: Vec<Vec<Action>> = Vec::new();
    let world = simulation.initial();
    visited.insert(&world, simulation.can_time_pass(&world));
    path.push(open(simulation, world, order, &mut spare));
    loop {
        let depth = path.len();
        let Some(frame) = path.last_mut() else {
            return;
        };
        let Some(&action) = frame.actions.get(frame.next) else {
            spare.extend(path.pop().map(|frame| frame.actions));
            continue;
        };
        frame.next += 1;
        if !simulation.may_go_on(depth) {
            return;
        }
        let mut world = frame.world.clone();
        simulation.step(&mut world, action);
        findings.steps += 1;
        if simulation.trouble.is_some() {
            return;
        }
        let new = visited.insert(&world, simulation.can_time_pass(&world));
        findings.states = visited.len();
        findings.paths += u64::from(world.is_complete() || !new);
        if world.is_complete() {
            let figures = simulation.figures(&world);
            findings.complete(figures, || history(&path));
        } else if new {
            if findings.states >= max_states || findings.is_stale(simulation.scenario.patience) {
                findings.exhausted = false;
                return;
            }
            if findings.states.is_multiple_of(PROGRESS_EVERY) {
                progress(findings.states);
            }
            path.push(open(simulation, world, order, &mut spare));
        }
    }
}

fn open(
    simulation: &mut Simulation,
    world: World,
    order: Order,
    spare: &mut Vec<Vec<Action>>,
) -> Frame {
    let mut actions = spare.pop().unwrap_or_default();
    simulation.actions(&world, &mut actions);
    if order == Order::FaultsFirst {
        actions.sort_by_key(|action| action.fault().is_none());
    }
    Frame {
        world,
        actions,
        next: 0,
    }
}

/// The steps that led to the state that is being looked at.
fn history(path: &[Frame]) -> Vec<Action> {
    path.iter()
        .map(|frame| frame.actions[frame.next - 1])
        .collect()
}
