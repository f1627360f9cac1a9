//! A command that a script asks for: the checks of the real server in their order, then the command.

use crate::server::command::{Command, Flags};
use crate::server::dispatch::{NOREPLICAS, OOM, READONLY};
use crate::server::node::Node;
use crate::server::session::ConnectionId;
use crate::server::{Bytes, Reply, Request, Version};

/// What the server answers to something that a script asks of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    /// The reply of the command.
    Reply(Reply),
    /// The script layer refused to run the command.
    Refused(Bytes),
}

/// Something that a script asks of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// A command.
    Command(Request),
    /// 31 random bits.
    Random,
    /// New random state.
    Seed(i32),
}

impl Ask {
    pub(crate) fn perform(&self, node: &mut Node, connection: ConnectionId) -> Answer {
        match self {
            Self::Command(request) => match check(node, request) {
                Err(text) => Answer::Refused(text.into()),
                Ok(command) => {
                    let reply = node.run_command(connection, command, request);
                    Answer::Reply(reply.unwrap_or_else(Reply::from))
                }
            },
            Self::Random => Answer::Reply(Reply::Int(node.random.draw())),
            Self::Seed(seed) => {
                node.random = super::RandomState::seeded(*seed);
                Answer::Reply(Reply::Nil)
            }
        }
    }
}

fn check(node: &mut Node, request: &Request) -> Result<&'static Command, String> {
    let version = node.version();
    let product = version.product();
    let Some(command) = request.command().filter(|command| command.since <= version) else {
        node.note_if_real(request);
        return Err(match version {
            Version::Redis62 => "Unknown Redis command called from Lua script".into(),
            Version::Valkey91 => "ERR Unknown command called from script".into(),
            _ => "ERR Unknown Redis command called from script".into(),
        });
    };
    if !command.accepts(request.argv().len(), version) {
        return Err(match version {
            Version::Redis62 => "Wrong number of args calling Redis command From Lua script".into(),
            Version::Valkey91 => "ERR Wrong number of args calling command from script".into(),
            _ => "ERR Wrong number of args calling Redis command from script".into(),
        });
    }
    let allowed_lately = version >= Version::Redis82 && command.flags.has(Flags::SCRIPT_SINCE_82);
    if command.flags.has(Flags::NO_SCRIPT) && !allowed_lately {
        return Err(match version {
            Version::Redis62 => "This Redis command is not allowed from scripts".into(),
            _ => format!("ERR This {product} command is not allowed from script"),
        });
    }
    // Valkey looks at memory first.
    if version.is_valkey() && command.flags.has(Flags::DENY_OOM) {
        check_memory(node)?;
    }
    if command.flags.has(Flags::WRITE) {
        check_write(node)?;
    }
    if command.flags.has(Flags::DENY_OOM) {
        check_memory(node)?;
    }
    if command.flags.has(Flags::WRITE)
        && let Some(run) = &mut node.run
    {
        run.wrote = true;
    }
    Ok(command)
}

fn check_write(node: &Node) -> Result<(), String> {
    let old = node.version() == Version::Redis62;
    let Some(run) = node.run else {
        return Ok(());
    };
    if run.read_only {
        return Err("ERR Write commands are not allowed from read-only scripts.".into());
    }
    // A script that has written already cannot be stopped any more.
    if run.wrote && !old {
        return Ok(());
    }
    match node.check_writable() {
        Ok(()) => Ok(()),
        Err(failure) if *failure.0 == *READONLY.as_bytes() => Err(line(READONLY, old)),
        Err(_) => Err(line(NOREPLICAS, old)),
    }
}

fn check_memory(node: &Node) -> Result<(), String> {
    let Some(run) = node.run else {
        return Ok(());
    };
    let limited = node.config().max_memory.is_some();
    if limited && node.out_of_memory && !run.wrote && !run.flags.allow_oom {
        return Err(line(OOM, node.version() == Version::Redis62));
    }
    Ok(())
}

/// Redis 6.2 hands scripts the whole protocol line.
fn line(text: &str, old: bool) -> String {
    if old {
        format!("-{text}\r\n")
    } else {
        text.into()
    }
}
