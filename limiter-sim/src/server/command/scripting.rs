//! `EVAL`, `EVALSHA` and `SCRIPT`.

use super::context::{Context, Outcome, is};
use super::subcommands::{check_subcommand, old_subcommand};
use super::table::Flags;
use crate::server::effect::Effect;
use crate::server::lua::{
    CachedScript, ScriptFlags, ScriptRun, Sha, compile_error, parse_flags, run,
};
use crate::server::reply::Failure;
use crate::server::{Bytes, Node, Reply, Request, Version};

pub(super) fn eval(cx: &mut Context<'_>) -> Outcome {
    let (keys, argv) = keys_and_arguments(cx)?;
    let sha = cx.request.script_sha();
    load(cx.node, sha, cx.arg(1), true)?;
    execute(cx, sha, keys, argv)
}

pub(super) fn evalsha(cx: &mut Context<'_>) -> Outcome {
    let sha = Sha::parse(cx.arg(1)).ok_or_else(|| no_script(cx.version()))?;
    let (keys, argv) = keys_and_arguments(cx)?;
    if cx.node.scripts.script(sha).is_none() {
        return Err(no_script(cx.version()));
    }
    execute(cx, sha, keys, argv)
}

fn no_script(version: Version) -> Failure {
    match version.is_valkey() {
        true => "NOSCRIPT No matching script.".into(),
        false => "NOSCRIPT No matching script. Please use EVAL.".into(),
    }
}

type Words<'a> = &'a [Bytes];

fn keys_and_arguments<'a>(cx: &Context<'a>) -> Result<(Words<'a>, Words<'a>), Failure> {
    let count = cx.integer(2)?;
    let words = cx.args(3);
    if count > words.len() as i64 {
        return Err("ERR Number of keys can't be greater than number of args".into());
    }
    let count = usize::try_from(count)
        .map_err(|_| Failure::from("ERR Number of keys can't be negative"))?;
    Ok(words.split_at(count))
}

/// Puts a script into the cache if it compiles.
fn load(node: &mut Node, sha: Sha, source: &Bytes, evictable: bool) -> Result<(), Failure> {
    if node.scripts.script(sha).is_some() {
        return Ok(());
    }
    let version = node.version();
    let (flags, body) = parse_flags(source, version)?;
    if let Some(error) = compile_error(version, sha, &source[body..]) {
        return Err(format!("ERR Error compiling script (new function): {error}").into());
    }
    node.scripts.insert(
        CachedScript {
            sha,
            source: source.clone(),
            flags,
            evictable,
        },
        version,
    );
    Ok(())
}

fn execute(cx: &mut Context<'_>, sha: Sha, keys: &[Bytes], argv: &[Bytes]) -> Outcome {
    let flags = cx
        .node
        .scripts
        .script(sha)
        .map(|script| script.flags)
        .unwrap_or_default();
    let read_only_command = cx.name().ends_with("_ro");
    if flags.declared {
        if cx.node.config().cluster && flags.no_cluster {
            return Err("ERR Can not run script on cluster, 'no-cluster' flag is set.".into());
        }
        if read_only_command && !flags.no_writes {
            return Err("ERR Can not execute a script with write flag using *_ro command.".into());
        }
        check_declared(cx.node, flags)?;
    }
    cx.node.run = Some(ScriptRun {
        wrote: false,
        read_only: read_only_command || flags.no_writes,
        flags,
    });
    let reply = run(cx.node, cx.connection, cx.request, sha, keys, argv);
    cx.node.run = None;
    Ok(reply)
}

/// A script that declares what it does is refused as a whole.
fn check_declared(node: &Node, flags: ScriptFlags) -> Result<(), Failure> {
    if flags.no_writes {
        return Ok(());
    }
    node.check_writable()?;
    if node.config().max_memory.is_some() && node.out_of_memory && !flags.allow_oom {
        return Err("OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'".into());
    }
    Ok(())
}

impl Node {
    /// What a script that declares it may do.
    pub(crate) fn script_flags(&self, command: Flags, request: &Request) -> Flags {
        let Some(word) = request.argv().get(1) else {
            return command;
        };
        let by_name = request
            .command()
            .is_some_and(|command| command.name.starts_with("evalsha"));
        let flags = if by_name {
            Sha::parse(word)
                .and_then(|sha| self.scripts.script(sha))
                .map(|script| script.flags)
        } else {
            match parse_flags(word, self.version()) {
                Ok((flags, _)) => Some(flags),
                // Valkey asks first whether an engine that it does not know may write.
                Err(text) if text.contains("scripting engine") => Some(ScriptFlags {
                    declared: true,
                    ..ScriptFlags::default()
                }),
                Err(_) => None,
            }
        };
        match flags {
            Some(flags) if flags.declared && !flags.no_writes => {
                let flags_of_memory = if flags.allow_oom {
                    Flags::READ
                } else {
                    Flags::DENY_OOM
                };
                command.with(Flags::WRITE).with(flags_of_memory)
            }
            _ => command,
        }
    }
}

pub(super) fn check(_: &Node, request: &Request) -> Result<(), Failure> {
    let mut known = vec![
        ("LOAD", 3),
        ("EXISTS", -3),
        ("FLUSH", -2),
        ("KILL", 2),
        ("DEBUG", 3),
        ("HELP", 2),
    ];
    known.push(("SHOW", 3));
    check_subcommand("script", &known, request)
}

pub(super) fn script(cx: &mut Context<'_>) -> Outcome {
    let words = cx.args(2);
    let sub = cx.arg(1);
    match words {
        [source] if is(sub, "LOAD") => {
            let sha = Sha::of(source);
            load(cx.node, sha, source, false)?;
            cx.node.scripts.keep(sha);
            if cx.version() == Version::Redis62 {
                cx.node.changes.scripts.push(Effect::LoadScript {
                    source: source.clone(),
                });
            }
            Ok(Reply::Bulk(sha.to_string().into()))
        }
        shas if is(sub, "EXISTS") => {
            let known = |word: &Bytes| {
                Sha::parse(word).is_some_and(|sha| cx.node.scripts.script(sha).is_some())
            };
            Ok(Reply::array(
                shas.iter()
                    .map(|word| Reply::Int(i64::from(known(word))))
                    .collect(),
            ))
        }
        modes if is(sub, "FLUSH") => {
            match modes {
                [] => {}
                [mode] if is(mode, "SYNC") || is(mode, "ASYNC") => {}
                _ => return Err("ERR SCRIPT FLUSH only support SYNC|ASYNC option".into()),
            }
            cx.node.scripts.clear();
            if cx.version() == Version::Redis62 {
                cx.node.changes.scripts.push(Effect::FlushScripts);
            }
            Ok(Reply::ok())
        }
        [] if is(sub, "KILL") => Err("NOTBUSY No scripts in execution right now.".into()),
        _ if cx.version() == Version::Redis62 => Err(old_subcommand(cx)),
        _ => {
            cx.node.note_unmodelled(&format!("SCRIPT {}", sub.lossy()));
            Ok(Reply::ok())
        }
    }
}
