//! Commands that consist of subcommands.

use super::context::{Context, is};
use crate::server::Request;
use crate::server::dispatch::wrong_arity;
use crate::server::reply::Failure;

pub(super) fn unknown_subcommand(command: &str, request: &Request) -> Failure {
    let hint = format!("'. Try {} HELP.", command.to_ascii_uppercase());
    Failure::about("ERR unknown subcommand '", &request.argv()[1], &hint)
}

/// From 7.0 on: a subcommand must exist and have the right number of words (negative: at least).
pub(super) fn check_subcommand(
    command: &str,
    known: &[(&str, i32)],
    request: &Request,
) -> Result<(), Failure> {
    let words = request.argv();
    if words.len() == 1 {
        return Ok(());
    }
    let found = known.iter().find(|(name, _)| is(&words[1], name));
    let (name, arity) = found.ok_or_else(|| unknown_subcommand(command, request))?;
    let least = arity.unsigned_abs() as usize;
    let fits = if *arity < 0 {
        words.len() >= least
    } else {
        words.len() == least
    };
    if fits {
        Ok(())
    } else {
        Err(wrong_arity(&format!(
            "{command}|{}",
            name.to_ascii_lowercase()
        )))
    }
}

/// The error of 6.2 for a subcommand that does not exist or has the wrong number of words.
pub(super) fn old_subcommand(cx: &Context<'_>) -> Failure {
    let name = cx.name().to_ascii_uppercase();
    let hint = format!("'. Try {name} HELP.");
    Failure::about(
        "ERR Unknown subcommand or wrong number of arguments for '",
        cx.arg(1),
        &hint,
    )
}
