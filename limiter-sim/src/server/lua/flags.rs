//! The first line of a script: `#!lua flags=…`, from Redis 7.0 on.

use crate::server::{Bytes, Version};

/// What a script's first line says about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ScriptFlags {
    /// Whether there is such a line: scripts without are treated as of old.
    pub(crate) declared: bool,
    pub(crate) no_writes: bool,
    pub(crate) allow_oom: bool,
    pub(crate) allow_cross_slot_keys: bool,
    pub(crate) no_cluster: bool,
}

/// A script's first line, and where the rest begins.
pub(crate) fn parse(source: &Bytes, version: Version) -> Result<(ScriptFlags, usize), String> {
    let mut flags = ScriptFlags::default();
    if version == Version::Redis62 || !source.starts_with(b"#!") {
        return Ok((flags, 0));
    }
    let end = source
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or("ERR Invalid script shebang")?;
    let line = String::from_utf8_lossy(&source[..end]).into_owned();
    let mut words = line.split_whitespace();
    let engine = words.next().unwrap_or_default();
    if engine != "#!lua" {
        let name = engine.trim_start_matches("#!");
        return Err(match version.is_valkey() {
            true => format!("ERR Could not find scripting engine '{name}'"),
            false => format!("ERR Unexpected engine in script shebang: {engine}"),
        });
    }
    flags.declared = true;
    for word in words {
        let names = word
            .strip_prefix("flags=")
            .ok_or_else(|| format!("ERR Unknown lua shebang option: {word}"))?;
        for name in names.split(',').filter(|name| !name.is_empty()) {
            match name {
                "no-writes" => flags.no_writes = true,
                "allow-oom" => flags.allow_oom = true,
                "allow-stale" => {}
                "no-cluster" => flags.no_cluster = true,
                "allow-cross-slot-keys" => flags.allow_cross_slot_keys = true,
                _ => return Err(format!("ERR Unexpected flag in script shebang: {name}")),
            }
        }
    }
    Ok((flags, end))
}
