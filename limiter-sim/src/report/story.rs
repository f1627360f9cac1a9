//! A history in one sentence, then step by step.

use comfy_table::Cell;

use super::Style;
use super::brief::{brief, note};
use super::table::table;
use crate::scenario::Scenario;
use crate::search::{Figures, Findings, Verdict};
use crate::trace::{Replay, Step};
use crate::world::{Action, Fault};

/// What was found, in one sentence.
pub(super) fn sentence(scenario: &Scenario, findings: &Findings) -> String {
    let name = scenario.subject.name();
    let promise = scenario.subject.promise(&scenario.parameters);
    let (limit, place) = (promise.most(), promise.place());
    let worst = &findings.worst;
    let admitted = worst.max_admitted;
    let under = faults(findings.witness());
    let why = why(scenario, findings);
    match findings.verdict() {
        Verdict::Violated if worst.overspend > 0 => {
            format!("{name} admitted {admitted} {place} against a limit of {limit}{under}{why}")
        }
        Verdict::Violated if worst.immortal => {
            format!("{name} left a counter that denies for ever{under}{why}")
        }
        Verdict::Violated if worst.stuck => {
            format!("{name} admitted nobody when the window had passed{under}{why}")
        }
        Verdict::Violated => format!(
            "{name} gave answers without any fault that no order of its calls explains{why}"
        ),
        Verdict::Proved => format!(
            "{name} admits at most {admitted} {place} against a limit of {limit}, in every \
             order of the steps of {}",
            match scenario.parameters.workers {
                1 => "one worker".to_owned(),
                workers => format!("{workers} workers"),
            }
        ),
        Verdict::Bounded => format!(
            "{name} admitted at most {admitted} {place} against a limit of {limit}, in the \
             {} states that were seen before the search ended",
            findings.states
        ),
    }
}

/// What made it happen, as a clause: the loss of what was counted, or what the store does wrong.
fn why(scenario: &Scenario, findings: &Findings) -> String {
    let loses = |action: &Action| {
        let fault = action.fault();
        fault.is_some_and(Fault::loses_state)
    };
    if findings.worst.overspend > 0 && findings.witness().iter().any(loses) {
        return ": what was counted was lost, and could be spent again".to_owned();
    }
    let flaw = scenario.subject.flaw();
    flaw.map_or_else(String::new, |flaw| format!(": it {flaw}"))
}

/// The faults of a history, as a clause.
fn faults(history: &[Action]) -> String {
    let mut names: Vec<&str> = history
        .iter()
        .filter_map(|action| action.fault())
        .map(Fault::name)
        .collect();
    names.dedup();
    match &names[..] {
        [] => String::new(),
        names => format!(" after {}", names.join(" and ")),
    }
}

/// The steps of a history as a table.
pub(crate) fn steps(steps: &[Step], style: Style) -> String {
    let head = [
        "", "at ms", "actor", "command", "reply", "told", "stored", "admitted", "waste",
    ];
    let rows = steps.iter().enumerate().map(|(number, step)| {
        vec![
            (number + 1).to_string(),
            step.at_ms.to_string(),
            step.actor.clone(),
            brief(&step.command),
            step.reply.clone(),
            step.outcome.clone(),
            brief(&step.stored),
            step.admitted.to_string(),
            step.waste.to_string(),
        ]
        .into_iter()
        .map(Cell::new)
        .collect()
    });
    let texts = steps.iter().flat_map(|step| [&step.command, &step.stored]);
    table(&head, rows, style) + note(texts)
}

/// What a replay did, with its verdict.
pub(crate) fn replayed(scenario: &Scenario, replay: &Replay, style: Style) -> String {
    format!(
        "{}\n{}\n",
        steps(&replay.steps, style),
        verdict(scenario, &replay.figures)
    )
}

/// What one history shows, in one line.
pub(super) fn verdict(scenario: &Scenario, figures: &Figures) -> String {
    let promise = scenario.subject.promise(&scenario.parameters);
    let (limit, place) = (promise.most(), promise.place());
    let admitted = figures.max_admitted;
    let mut wrong = Vec::new();
    if figures.overspend > 0 {
        wrong.push(format!(
            "{admitted} admitted {place} against a limit of {limit}"
        ));
    }
    if figures.immortal {
        wrong.push("a counter is left that denies for ever".to_owned());
    }
    if figures.stuck {
        wrong.push("nobody is admitted when the window has passed".to_owned());
    }
    if figures.disordered {
        wrong.push("no order of the calls explains their answers".to_owned());
    }
    let waste = match figures.waste {
        0 => String::new(),
        waste => format!("; {waste} charged that no caller was told about"),
    };
    if wrong.is_empty() {
        format!("no violation: {admitted} admitted {place} against a limit of {limit}{waste}")
    } else {
        format!("violated: {}{waste}", wrong.join("; "))
    }
}
