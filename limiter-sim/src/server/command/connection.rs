//! The connection itself.

use super::context::{Context, Outcome, integer, is};
use super::subcommands::{check_subcommand, old_subcommand, unknown_subcommand};
use crate::server::node::Role;
use crate::server::reply::Failure;
use crate::server::{Bytes, Node, Reply, Request, Version};

pub(super) fn ping(cx: &mut Context<'_>) -> Outcome {
    match cx.args(1) {
        [] => Ok(Reply::status("PONG")),
        [text] => Ok(Reply::Bulk(text.clone())),
        _ => Err(cx.wrong_arity()),
    }
}

/// The reply; the driver of the node closes the connection.
pub(super) fn quit(cx: &mut Context<'_>) -> Outcome {
    cx.node.disconnect(cx.connection);
    Ok(Reply::ok())
}

/// The connection becomes as a new one.
pub(super) fn reset(cx: &mut Context<'_>) -> Outcome {
    cx.node.disconnect(cx.connection);
    Ok(Reply::status("RESET"))
}

pub(super) fn echo(cx: &mut Context<'_>) -> Outcome {
    Ok(Reply::Bulk(cx.arg(1).clone()))
}

pub(super) fn select(cx: &mut Context<'_>) -> Outcome {
    let index = cx.integer(1)?;
    if i32::try_from(index).is_err() {
        let (low, high) = (i32::MIN, i32::MAX);
        return Err(
            format!("ERR value is out of range, value must between {low} and {high}").into(),
        );
    }
    match index {
        0 => Ok(Reply::ok()),
        1..=15 => {
            cx.node.note_unmodelled("SELECT of a database other than 0");
            Ok(Reply::ok())
        }
        _ => Err("ERR DB index is out of range".into()),
    }
}

pub(super) fn check_client(node: &Node, request: &Request) -> Result<(), Failure> {
    let mut known = vec![
        ("ID", 2),
        ("SETNAME", 3),
        ("GETNAME", 2),
        ("REPLY", 3),
        ("NO-EVICT", 3),
    ];
    if node.version() > Version::Redis70 {
        known.push(("SETINFO", 4));
    }
    let real = [
        "LIST", "INFO", "KILL", "PAUSE", "UNPAUSE", "TRACKING", "UNBLOCK", "CACHING", "GETREDIR",
        "HELP",
    ];
    if request
        .argv()
        .get(1)
        .is_some_and(|sub| real.iter().any(|name| is(sub, name)))
    {
        return Ok(());
    }
    check_subcommand("client", &known, request)
}

/// What the client library is; the server only shows it.
fn set_info(name: &Bytes, value: &Bytes) -> Outcome {
    let known = ["lib-name", "lib-ver"]
        .into_iter()
        .find(|known| is(name, known));
    let Some(known) = known else {
        return Err(Failure::about("ERR Unrecognized option '", name, "'"));
    };
    if value.iter().any(|byte| !(b'!'..=b'~').contains(byte)) {
        return Err(
            format!("ERR {known} cannot contain spaces, newlines or special characters.").into(),
        );
    }
    Ok(Reply::ok())
}

pub(super) fn client(cx: &mut Context<'_>) -> Outcome {
    let words = cx.args(2);
    match cx.request.argv()[1].to_ascii_uppercase().as_slice() {
        b"ID" if words.is_empty() => Ok(Reply::Int(i64::from(cx.connection))),
        b"SETNAME" if words.len() == 1 => {
            let name = words[0].clone();
            if name.iter().any(|byte| !(b'!'..=b'~').contains(byte)) {
                return Err(
                    "ERR Client names cannot contain spaces, newlines or special characters."
                        .into(),
                );
            }
            cx.node
                .with_session(cx.connection, |session| session.name = name);
            Ok(Reply::ok())
        }
        b"GETNAME" if words.is_empty() => {
            let name = cx
                .node
                .session(cx.connection)
                .map(|session| session.name.clone());
            Ok(name
                .filter(|name| !name.is_empty())
                .map_or(Reply::Nil, Reply::Bulk))
        }
        b"SETINFO" if words.len() == 2 && cx.version() > Version::Redis70 => {
            set_info(&words[0], &words[1])
        }
        _ if cx.version() == Version::Redis62 => Err(old_subcommand(cx)),
        other => {
            let what = format!("CLIENT {}", String::from_utf8_lossy(other));
            cx.node.note_unmodelled(&what);
            Err(unknown_subcommand("client", cx.request))
        }
    }
}

pub(super) fn hello(cx: &mut Context<'_>) -> Outcome {
    match cx.args(1) {
        [] => {}
        [version, rest @ ..] => {
            let bad = "NOPROTO unsupported protocol version";
            match integer(version) {
                Err(_) => {
                    return Err("ERR Protocol version is not an integer or out of range".into());
                }
                Ok(2) => {}
                Ok(3) => {
                    cx.node.note_unmodelled("HELLO 3");
                    return Err(bad.into());
                }
                Ok(_) => return Err(bad.into()),
            }
            if !rest.is_empty() {
                cx.node.note_unmodelled("HELLO with options");
            }
        }
    }
    let role = if cx.node.role() == Role::Primary {
        "master"
    } else {
        "replica"
    };
    let mode = if cx.node.config().cluster {
        "cluster"
    } else {
        "standalone"
    };
    let product = if cx.version().is_valkey() {
        "valkey"
    } else {
        "redis"
    };
    let text = |text: &str| Reply::Bulk(text.into());
    Ok(Reply::array(vec![
        text("server"),
        text(product),
        text("version"),
        text(cx.version().number()),
        text("proto"),
        Reply::Int(2),
        text("id"),
        Reply::Int(i64::from(cx.connection)),
        text("mode"),
        text(mode),
        text("role"),
        text(role),
        text("modules"),
        Reply::array(Vec::new()),
    ]))
}

pub(super) fn auth(cx: &mut Context<'_>) -> Outcome {
    match cx.args(1) {
        [_] => Err(
            "ERR AUTH <password> called without any password configured for the default user. \
                    Are you sure your configuration is correct?"
                .into(),
        ),
        [user, _] if **user == *b"default" => Ok(Reply::ok()),
        [_, _] => Err("WRONGPASS invalid username-password pair or user is disabled.".into()),
        _ => Err(Failure::syntax()),
    }
}

fn needs_cluster(cx: &Context<'_>) -> Result<(), Failure> {
    let cluster = cx.node.config().cluster;
    if cluster {
        Ok(())
    } else {
        Err("ERR This instance has cluster support disabled".into())
    }
}

pub(super) fn readonly(cx: &mut Context<'_>) -> Outcome {
    if !cx.version().is_valkey() {
        needs_cluster(cx)?;
    }
    cx.node
        .with_session(cx.connection, |session| session.readonly = true);
    Ok(Reply::ok())
}

pub(super) fn readwrite(cx: &mut Context<'_>) -> Outcome {
    if !cx.version().is_valkey() && cx.version() > Version::Redis62 {
        needs_cluster(cx)?;
    }
    cx.node
        .with_session(cx.connection, |session| session.readonly = false);
    Ok(Reply::ok())
}

pub(super) fn asking(cx: &mut Context<'_>) -> Outcome {
    needs_cluster(cx)?;
    cx.node
        .with_session(cx.connection, |session| session.asking = true);
    Ok(Reply::ok())
}
