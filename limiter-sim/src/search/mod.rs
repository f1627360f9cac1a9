//! Searches: which histories are looked at.

mod aside;
mod exhaustive;
mod findings;
mod pct;
mod sampling;
#[cfg(test)]
mod tests;
mod visited;

pub(crate) use findings::{Figures, Findings, Verdict};

use aside::Aside;

use crate::scenario::{Scenario, Search};
use crate::threads;
use crate::world::{Action, Fault, Simulation, Way, first_that_does_not_linearize};

/// The part of the states that a search with fewer faults, which only makes witnesses smaller, may
/// see.
const SHARE_OF_SMALLER: u64 = 32;

/// Random histories that are followed after a search that was cut short.
const RUNS_AFTER_CUT: u64 = 500;

/// Random histories without faults whose calls must have an order.
const ORDERED_HISTORIES: u64 = 200;

/// More calls are not put in order: each is a level of the judge's recursion, and the number of orders
/// grows with their factorial.
const MOST_ORDERED_CALLS: u64 = 1_024;

/// What a search found, and what it has to say about itself.
pub(crate) struct Explored {
    pub(crate) findings: Findings,
    /// Faults that never had a consequence.
    pub(crate) vacuous: Vec<Fault>,
    pub(crate) notes: Vec<String>,
}

/// Progress: told the number of states now and then, by whichever thread.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Explores `scenario`, and says which of its faults never had a consequence. `progress` is told
/// the number of states now and then.
///
/// An exhaustive search is deepened by the number of faults, so that the witness needs as few as can
/// be; its figures are those of the deepest search. Each of these is made by one thread, because what it
/// finds first depends on its order; they are shared among threads, and so are random histories.
///
/// # Errors
/// Where the modelled server was asked for something that it lacks.
pub(crate) fn explore(scenario: &Scenario, progress: Progress<'_>) -> Result<Explored, String> {
    let (mut findings, aside) = match scenario.search {
        Search::Exhaustive => exhaust(scenario, progress),
        Search::Random | Search::Pct => sampling::search(scenario, scenario.runs, progress),
    };
    let calls = scenario.parameters.workers as u64 * u64::from(scenario.parameters.attempts);
    let is_ordered = scenario.faults.kinds.is_empty() && scenario.subject.unordered().is_none();
    let mut notes: Vec<String> = Vec::new();
    if is_ordered && calls > MOST_ORDERED_CALLS {
        notes.push(format!(
            "whether an order of {calls} calls explains their answers was not looked at: at most \
             {MOST_ORDERED_CALLS} are ordered"
        ));
    } else if is_ordered {
        let disordered = first_that_does_not_linearize(scenario, ORDERED_HISTORIES)?;
        if let Some(history) = disordered {
            findings.has_no_order(history);
        }
    }
    let kinds = scenario.faults.kinds.iter().map(|(fault, _)| *fault);
    let vacuous = kinds.filter(|fault| !aside.bit.contains(fault)).collect();
    notes.extend(aside.notes);
    if findings.worst.max_admitted == 0 {
        notes.extend(never_admitted(scenario));
    }
    if findings.worst.stuck && scenario.subject.script().is_some() {
        notes.push(format!(
            "when {} ms had passed nobody was admitted: is that (--window-ms) the script's own length?",
            scenario.parameters.window_ms
        ));
    }
    match aside.trouble {
        Some(trouble) => Err(trouble),
        None => Ok(Explored {
            findings,
            vacuous,
            notes,
        }),
    }
}

/// Every state, with each number of faults.
fn exhaust(scenario: &Scenario, progress: Progress<'_>) -> (Findings, Aside) {
    let total = scenario.faults.total;
    // The deepest takes longest, so it begins first.
    let depth = |job: usize| total - job as u32;
    let begin = || Simulation::new(scenario.clone());
    let search = |simulation: &mut Simulation, job| {
        simulation.scenario.faults.total = depth(job);
        let (max_states, progress): (_, Progress<'_>) = match job {
            0 => (scenario.max_states, progress),
            _ => (scenario.max_states / SHARE_OF_SMALLER, &|_| ()),
        };
        let findings = exhaustive::search(simulation, max_states, progress);
        (findings, Aside::of(simulation))
    };
    let searches = threads::share(scenario.threads, total as usize + 1, begin, search);
    let mut aside = Aside::default();
    let mut findings = Findings::default();
    for (found, noticed) in searches.into_iter().rev() {
        findings = found.prefer(findings);
        aside.add(noticed);
    }
    if !findings.exhausted && aside.trouble.is_none() {
        // What a cut search has missed lies scattered; so look at scattered histories too.
        let (sampled, noticed) = sampling::search(scenario, RUNS_AFTER_CUT, progress);
        findings = findings.prefer(sampled);
        aside.add(noticed);
    }
    (findings, aside)
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
