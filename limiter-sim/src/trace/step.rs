//! One step of a history, told.

use serde::Serialize;

use crate::fingerprint::Digest;
use crate::world::{Action, EPOCH_MS, Happened, World};

/// What one step did, in words.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    /// Milliseconds since the beginning.
    pub(crate) at_ms: u64,
    pub(crate) actor: String,
    pub(crate) command: String,
    pub(crate) reply: String,
    /// How the attempt ended, if it did.
    pub(crate) outcome: String,
    /// The server's keys, each with its value and its deadline.
    pub(crate) stored: String,
    pub(crate) admitted: u64,
    pub(crate) waste: u64,
    /// The instant in the token's own form.
    pub(crate) action: String,
}

impl Step {
    pub(crate) fn told(action: Action, happened: &Happened, world: &World) -> Self {
        let outcomes: Vec<&str> = happened
            .outcomes
            .iter()
            .map(|(_, outcome)| outcome.word())
            .collect();
        let exchanges = happened.exchanges.iter();
        let commands: Vec<String> = exchanges
            .clone()
            .map(|(request, _)| request.to_string())
            .collect();
        let replies: Vec<String> = exchanges
            .map(|(_, reply)| {
                reply
                    .as_ref()
                    .map_or("no reply".to_owned(), ToString::to_string)
            })
            .collect();
        Self {
            at_ms: world.now - EPOCH_MS,
            actor: actor(action),
            command: if commands.is_empty() {
                act(action)
            } else {
                commands.join("; ")
            },
            reply: replies.join("; "),
            outcome: outcomes.join(", "),
            stored: stored(world),
            admitted: world.ledger.admitted(),
            waste: world.ledger.waste(),
            action: action.to_string(),
        }
    }
}

fn actor(action: Action) -> String {
    match action.process() {
        Some(process) => format!("w{process}"),
        None => match action {
            Action::Advance { .. } => "time".to_owned(),
            _ => "world".to_owned(),
        },
    }
}

/// What a step without a request is.
fn act(action: Action) -> String {
    match action {
        Action::Advance { to } => format!("moves to {} ms", to - EPOCH_MS),
        _ => action
            .fault()
            .map_or_else(|| "goes on".to_owned(), |fault| fault.name().to_owned()),
    }
}

/// Two digits that change when a step does something else than it did.
#[allow(clippy::cast_possible_truncation)] // Any 8 bits of the digest will do.
pub(super) fn check(happened: &Happened) -> u8 {
    Digest::of(happened).0 as u8
}

fn stored(world: &World) -> String {
    let epoch = EPOCH_MS.cast_signed();
    let entries = world.slots[world.primary].node().keyspace();
    let keys: Vec<String> = entries
        .map(|entry| match entry.deadline_ms() {
            Some(deadline) => {
                format!(
                    "{}={} until {} ms",
                    entry.key(),
                    entry.value(),
                    deadline - epoch
                )
            }
            None => format!("{}={} for ever", entry.key(), entry.value()),
        })
        .collect();
    keys.join(", ")
}
