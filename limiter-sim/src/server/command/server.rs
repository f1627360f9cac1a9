//! The connection and the server itself.

use std::sync::Arc;

use super::context::{Context, Outcome, integer, is};
use crate::server::config::EvictionPolicy;
use crate::server::dispatch::wrong_arity;
use crate::server::glob::matches;
use crate::server::node::Role;
use crate::server::reply::{Failure, printed};
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

pub(super) fn time(cx: &mut Context<'_>) -> Outcome {
    let now_ms = cx.node.now_ms();
    let micros = now_ms.rem_euclid(1_000) * 1_000;
    let parts = [now_ms.div_euclid(1_000), micros];
    Ok(Reply::array(
        parts.map(|part| Reply::Bulk(Bytes::decimal(part))).into(),
    ))
}

pub(super) fn info(cx: &mut Context<'_>) -> Outcome {
    let role = if cx.node.role() == Role::Primary {
        "master"
    } else {
        "slave"
    };
    let version = if cx.version().is_valkey() {
        "7.2.4"
    } else {
        cx.version().number()
    };
    let mode = if cx.node.config().cluster {
        "cluster"
    } else {
        "standalone"
    };
    let text = format!(
        "# Server\r\nredis_version:{version}\r\nredis_mode:{mode}\r\n\r\n# Memory\r\nused_memory:{}\r\n\r\n\
         # Persistence\r\nloading:{}\r\n\r\n# Replication\r\nrole:{role}\r\nconnected_slaves:{}\r\n\r\n\
         # Cluster\r\ncluster_enabled:{}\r\n",
        cx.node.used_memory(),
        u8::from(cx.node.loading),
        cx.node.good_replicas,
        u8::from(cx.node.config().cluster),
    );
    Ok(Reply::Bulk(text.into()))
}

fn unknown_subcommand(command: &str, request: &Request) -> Failure {
    let sub = printed(&request.argv()[1]);
    format!(
        "ERR unknown subcommand '{sub}'. Try {} HELP.",
        command.to_ascii_uppercase()
    )
    .into()
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
    let sub = printed(cx.arg(1));
    format!("ERR Unknown subcommand or wrong number of arguments for '{sub}'. Try {name} HELP.")
        .into()
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
        return Err(format!("ERR Unrecognized option '{}'", printed(name)).into());
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

pub(super) fn wait(cx: &mut Context<'_>) -> Outcome {
    if cx.node.role() == Role::Replica {
        let since = if cx.version().is_valkey() {
            ""
        } else {
            "since Redis 4.0 "
        };
        return Err(format!(
            "ERR WAIT cannot be used with replica instances. Please also note that {since}if a replica is \
             configured to be writable (which is not the default) writes to replicas are just local and are not propagated."
        )
        .into());
    }
    cx.integer(1)?;
    let timeout = integer(cx.arg(2))
        .map_err(|_| Failure::from("ERR timeout is not an integer or out of range"))?;
    if timeout < 0 {
        return Err("ERR timeout is negative".into());
    }
    Ok(Reply::Int(i64::from(cx.node.acknowledging_replicas)))
}

pub(super) fn command(cx: &mut Context<'_>) -> Outcome {
    if cx.args(1).first().is_some_and(|sub| is(sub, "DOCS")) {
        return Ok(Reply::array(Vec::new()));
    }
    cx.node.note_unmodelled("COMMAND");
    Ok(Reply::array(Vec::new()))
}

pub(super) fn check_config(_: &Node, request: &Request) -> Result<(), Failure> {
    let known = [
        ("GET", -3),
        ("SET", -4),
        ("RESETSTAT", 2),
        ("REWRITE", 2),
        ("HELP", 2),
    ];
    check_subcommand("config", &known, request)
}

pub(super) fn config(cx: &mut Context<'_>) -> Outcome {
    let words = cx.args(2);
    let sub = cx.arg(1);
    let old = cx.version() == Version::Redis62;
    if is(sub, "GET") && !words.is_empty() && (words.len() == 1 || !old) {
        let settings = settings(cx);
        let wanted = settings.iter().filter(|(name, _)| {
            words
                .iter()
                .any(|word| matches(&word.to_lower(), name.as_bytes()))
        });
        let pairs = wanted
            .flat_map(|(name, value)| [Reply::Bulk((*name).into()), Reply::Bulk(value.clone())]);
        let pairs: Vec<Reply> = pairs.collect();
        let other = |word: &Bytes| !settings.iter().any(|(name, _)| is(word, name));
        if let Some(word) = words.iter().find(|word| other(word)) {
            cx.node
                .note_unmodelled(&format!("CONFIG GET {}", word.lossy()));
        }
        return Ok(Reply::array(pairs));
    }
    if is(sub, "SET")
        && words.len() >= 2
        && words.len().is_multiple_of(2)
        && (words.len() == 2 || !old)
    {
        for pair in words.chunks_exact(2) {
            set_config(cx, &pair[0], &pair[1])?;
        }
        return Ok(Reply::ok());
    }
    if cx.version() == Version::Redis62 {
        return Err(old_subcommand(cx));
    }
    cx.node.note_unmodelled(&format!("CONFIG {}", sub.lossy()));
    Err(unknown_subcommand("config", cx.request))
}

fn settings(cx: &Context<'_>) -> Vec<(&'static str, Bytes)> {
    let config = cx.node.config();
    let min_replicas = Bytes::decimal(i64::from(config.min_replicas_to_write));
    vec![
        (
            "maxmemory",
            Bytes::decimal(config.max_memory.unwrap_or(0) as i64),
        ),
        ("maxmemory-policy", config.eviction.name().into()),
        ("min-replicas-to-write", min_replicas),
    ]
}

fn set_config(cx: &mut Context<'_>, name: &Bytes, value: &Bytes) -> Result<(), Failure> {
    let node = &mut *cx.node;
    let config = Arc::make_mut(&mut node.config);
    let number = integer(value)
        .ok()
        .and_then(|number| u64::try_from(number).ok());
    match (name.to_ascii_lowercase().as_slice(), number) {
        (b"maxmemory", Some(limit)) => {
            config.max_memory = Some(limit).filter(|limit| *limit > 0);
            node.free_memory();
        }
        (b"min-replicas-to-write", Some(count)) => config.min_replicas_to_write = count as u32,
        (b"maxmemory-policy", _) if EvictionPolicy::from_name(&value.lossy()).is_some() => {
            config.eviction = EvictionPolicy::from_name(&value.lossy()).unwrap_or_default();
        }
        _ => {
            node.note_unmodelled(&format!("CONFIG SET {} {}", name.lossy(), value.lossy()));
            return Err(format!("ERR CONFIG SET of '{}' is not modelled", name.lossy()).into());
        }
    }
    Ok(())
}
