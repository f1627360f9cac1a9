//! Searches: which histories are looked at.

mod exhaustive;
mod findings;
mod pct;
mod sampling;
#[cfg(test)]
mod tests;
mod visited;

pub(crate) use findings::{Figures, Findings, Verdict};

use crate::scenario::{Scenario, Search};
use crate::world::{Action, Fault, Simulation, Way, first_that_does_not_linearize};

/// The part of the states that a search with fewer faults, which only makes witnesses smaller, may
/// see.
const SHARE_OF_SMALLER: u64 = 32;

/// Random histories that are followed after a search that was cut short.
const RUNS_AFTER_CUT: u64 = 500;

/// Random histories without faults whose calls must have an order.
const ORDERED_HISTORIES: u64 = 200;

/// What a search found, and what it has to say about itself.
pub(crate) struct Explored {
    pub(crate) findings: Findings,
    /// Faults that never had a consequence.
    pub(crate) vacuous: Vec<Fault>,
    pub(crate) notes: Vec<String>,
}

/// Explores `scenario`, and says which of its faults never had a consequence. `progress` is told
/// the number of states now and then.
///
/// An exhaustive search is deepened by the number of faults, so that the witness needs as few as can
/// be; its figures are those of the deepest search.
///
/// # Errors
/// Where the modelled server was asked for something that it lacks.
pub(crate) fn explore(scenario: &Scenario, progress: &dyn Fn(u64)) -> Result<Explored, String> {
    let mut simulation = Simulation::new(scenario.clone());
    let mut findings = match scenario.search {
        Search::Exhaustive => {
            let mut findings = Findings::default();
            for faults in 0..=scenario.faults.total {
                simulation.scenario.faults.total = faults;
                let max_states = match faults < scenario.faults.total {
                    true => scenario.max_states / SHARE_OF_SMALLER,
                    false => scenario.max_states,
                };
                let deeper = exhaustive::search(&mut simulation, max_states, progress);
                findings = deeper.prefer(findings);
            }
            if !findings.exhausted {
                // What a cut search has missed lies scattered; so look at scattered histories too.
                let sampled = sampling::search(&mut simulation, RUNS_AFTER_CUT, progress);
                findings = findings.prefer(sampled);
            }
            findings
        }
        Search::Random | Search::Pct => sampling::search(&mut simulation, scenario.runs, progress),
    };
    if scenario.faults.kinds.is_empty() && scenario.subject.unordered().is_none() {
        let disordered = first_that_does_not_linearize(scenario, ORDERED_HISTORIES)?;
        if let Some(history) = disordered {
            findings.has_no_order(history);
        }
    }
    let kinds = scenario.faults.kinds.iter().map(|(fault, _)| *fault);
    let vacuous = kinds
        .filter(|fault| simulation.bites.of(*fault) == 0)
        .collect();
    let mut notes: Vec<String> = simulation.notes.iter().cloned().collect();
    if findings.worst.max_admitted == 0 {
        notes.extend(never_admitted(scenario));
    }
    match simulation.trouble {
        Some(trouble) => Err(trouble),
        None => Ok(Explored {
            findings,
            vacuous,
            notes,
        }),
    }
}

/// What to look at where no reply of a script was ever taken for an admission.
fn never_admitted(scenario: &Scenario) -> Option<String> {
    let admit_when = &scenario.subject.script()?.admit_when;
    let mut simulation = Simulation::new(scenario.clone());
    let mut world = simulation.initial();
    let call = Action::Go {
        process: 0,
        lane: 0,
        way: Way::Through,
    };
    let mut last = None;
    while simulation.allows(&world, call) {
        simulation.step(&mut world, call);
        let exchanges = simulation.happened.exchanges.iter();
        last = exchanges
            .filter_map(|(_, reply)| reply.clone())
            .next_back()
            .or(last);
    }
    Some(format!(
        "nobody was ever admitted: no reply satisfied {admit_when}. The first caller, alone, is answered {}",
        last?
    ))
}
