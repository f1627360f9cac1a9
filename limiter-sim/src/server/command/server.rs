//! The connection and the server itself.

use std::sync::Arc;

use super::context::{Context, Outcome, integer, is};
use super::subcommands::{check_subcommand, old_subcommand, unknown_subcommand};
use crate::server::config::EvictionPolicy;
use crate::server::glob::matches;
use crate::server::node::Role;
use crate::server::reply::Failure;
use crate::server::{Bytes, Node, Reply, Request, Version};

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
        cx.node.replication.good,
        u8::from(cx.node.config().cluster),
    );
    Ok(Reply::Bulk(text.into()))
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
    let wanted = cx.integer(1)?;
    let timeout = integer(cx.arg(2))
        .map_err(|_| Failure::from("ERR timeout is not an integer or out of range"))?;
    if timeout < 0 {
        return Err("ERR timeout is negative".into());
    }
    Ok(Reply::Int(i64::from(cx.node.wait(cx.connection, wanted))))
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
            // From 7.0 on that is left to the next command that clients send.
            if node.version() == Version::Redis62 {
                node.free_memory();
            }
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
