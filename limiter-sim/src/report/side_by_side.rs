//! A history in the model and on a real server, side by side.

use comfy_table::Cell;

use super::Style;
use super::brief::{brief, note};
use super::story::verdict;
use super::table::table;
use crate::process::Outcome;
use crate::reality::Reality;
use crate::scenario::Scenario;

/// What a token's history did on both sides, where they part, and what was shown.
pub(crate) fn side_by_side(scenario: &Scenario, reality: &Reality, style: Style) -> String {
    let parts_at = reality.parts_at();
    let head = [
        "",
        "actor",
        "command",
        "model: reply",
        "told",
        "server: reply",
        "told",
        "server holds",
    ];
    let rows = reality
        .model
        .steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            let real = reality.real.get(number);
            let sign = if parts_at == Some(number) { " ≠" } else { "" };
            let [reply, told, stored] = match real {
                Some(real) => [
                    replies(&real.replies),
                    words(&real.outcomes),
                    brief(&real.stored),
                ],
                None => ["not possible".to_owned(), String::new(), String::new()],
            };
            vec![
                format!("{}{sign}", number + 1),
                step.actor.clone(),
                brief(&step.command),
                step.reply.clone(),
                step.outcome.clone(),
                reply,
                told,
                stored,
            ]
            .into_iter()
            .map(Cell::new)
            .collect()
        });
    let agreement = match parts_at {
        None => "every caller was told the same on both sides".to_owned(),
        Some(number) => format!("they part at step {}", number + 1),
    };
    let (model, real) = (&reality.model.figures, &reality.figures);
    let shown = match (model.is_violation(), real.shows(model)) {
        (true, true) => "the violation is reproduced",
        (true, false) => "the violation is not reproduced",
        (false, _) if real.is_violation() => "the model shows no violation, the server does",
        (false, true) if model.waste > 0 => "the waste, which is no violation, is reproduced",
        (false, false) => "the waste, which is no violation, is not reproduced",
        (false, true) => "there is no violation",
    };
    format!(
        "{}{}\nmodel: {}\n{}: {}\n{agreement}; {shown}\n",
        table(&head, rows, style),
        note(reality.model.steps.iter().map(|step| &step.command)),
        verdict(scenario, &reality.model.figures),
        reality.server,
        verdict(scenario, &reality.figures),
    )
}

fn replies(replies: &[Option<String>]) -> String {
    let told: Vec<&str> = replies
        .iter()
        .map(|reply| reply.as_deref().unwrap_or("no reply"))
        .collect();
    told.join("; ")
}

fn words(outcomes: &[Outcome]) -> String {
    let words: Vec<&str> = outcomes.iter().map(|outcome| outcome.word()).collect();
    words.join(", ")
}
