//! The functions that the server gives to scripts.

use mlua::{Function, Lua, MultiValue, Table, Value};

use super::Sha;
use super::call::{Answer, Ask};
use super::convert;
use super::errors::{Raised, place, plain, raised};
use super::host::SharedHost;
use super::sandbox::Sandbox;
use crate::server::{Bytes, Reply, Request, Version};

/// An error of the script layer itself, as `redis.call` raises it and `redis.pcall` returns it.
fn layer_error(lua: &Lua, version: Version, text: &[u8]) -> Vec<u8> {
    if version > Version::Redis62 {
        return text.to_vec();
    }
    let place = place(lua, 1);
    let line = place
        .as_ref()
        .and_then(|place| place.line)
        .map_or(-1, |line| line as i64);
    let source = place.map_or_else(|| "=?".to_owned(), |place| place.source);
    [format!("{source}: {line}: ").as_bytes(), text].concat()
}

/// A wrong use of one of these functions.
fn misuse(version: Version, text: &str) -> mlua::Error {
    match version {
        Version::Redis62 => Raised::Text(text.into()).into(),
        _ => Raised::ErrTable(format!("ERR {text}").into_bytes()).into(),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    }
}

fn err_table(lua: &Lua, text: &[u8]) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(0, 1)?;
    table.raw_set("err", lua.create_string(text)?)?;
    Ok(Value::Table(table))
}

/// The functions that turn a caught error into what scripts see: after `pcall`, and anywhere else; and one
/// that raises if the script has run for too long.
pub(super) fn translators(
    lua: &Lua,
    host: &SharedHost,
    version: Version,
) -> mlua::Result<(Function, Function, Function)> {
    let caught = lua.create_function(move |lua, value: Value| match &value {
        Value::Error(error) => match raised(error) {
            Some(Raised::Text(text) | Raised::ErrTable(text)) => {
                Ok(Value::String(lua.create_string(text)?))
            }
            _ => Ok(Value::String(lua.create_string(plain(error))?)),
        },
        Value::Table(table) if version > Version::Redis62 => match table.raw_get("err")? {
            Value::String(text) => Ok(Value::String(text)),
            _ => Ok(value),
        },
        _ => Ok(value),
    })?;
    let elsewhere = lua.create_function(move |lua, value: Value| match &value {
        Value::Error(error) => match raised(error) {
            Some(Raised::ErrTable(text)) => err_table(lua, text),
            Some(Raised::Text(text)) => Ok(Value::String(lua.create_string(text)?)),
            _ => Ok(Value::String(lua.create_string(plain(error))?)),
        },
        _ => Ok(value),
    })?;
    let host = host.clone();
    let go_on = lua.create_function(move |_, ()| match host.borrow().instructions_left {
        0 => Err(Raised::Endless.into()),
        _ => Ok(()),
    })?;
    Ok((caught, elsewhere, go_on))
}

fn no_arguments(version: Version) -> &'static str {
    match version {
        Version::Redis62 => "Please specify at least one argument for redis.call()",
        Version::Valkey91 => "ERR Please specify at least one argument for this call",
        _ => "ERR Please specify at least one argument for this redis lib call",
    }
}

fn bad_arguments(version: Version) -> &'static str {
    match version {
        Version::Redis62 => "Lua redis() command arguments must be strings or integers",
        Version::Valkey91 => "ERR Command arguments must be strings or integers",
        _ => "ERR Lua redis lib command arguments must be strings or integers",
    }
}

/// `redis.call` and `redis.pcall`.
fn call(lua: &Lua, host: &SharedHost, version: Version, raises: bool) -> mlua::Result<Function> {
    let host = host.clone();
    lua.create_function(move |lua, args: MultiValue| {
        let refused = if args.is_empty() {
            no_arguments(version).as_bytes().into()
        } else if let Some(words) = convert::words(&args, version) {
            let request = Request::new(words);
            let answer = host.borrow_mut().ask(Ask::Command(request));
            match answer {
                Answer::Reply(Reply::Error(text)) if raises => {
                    return Err(error_of(version, &text));
                }
                Answer::Reply(reply) => return convert::to_lua(lua, &reply),
                Answer::Refused(text) => text,
            }
        } else {
            bad_arguments(version).as_bytes().into()
        };
        let text = layer_error(lua, version, &refused);
        if raises {
            Err(error_of(version, &text))
        } else {
            err_table(lua, &text)
        }
    })
}

fn error_of(version: Version, text: &[u8]) -> mlua::Error {
    match version {
        Version::Redis62 => Raised::Text(text.to_vec()).into(),
        _ => Raised::ErrTable(text.to_vec()).into(),
    }
}

/// `redis.error_reply` and `redis.status_reply`.
fn single_field(lua: &Lua, version: Version, field: &'static str) -> mlua::Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        let text = match args.front() {
            Some(Value::String(text)) if args.len() == 1 => text.as_bytes().to_vec(),
            _ => {
                let text = "wrong number or type of arguments";
                let coded = if version > Version::Redis62 {
                    format!("ERR {text}")
                } else {
                    text.into()
                };
                return err_table(lua, &layer_error(lua, version, coded.as_bytes()));
            }
        };
        let text = if field == "err" && version > Version::Redis62 {
            with_code(&text)
        } else {
            text
        };
        let table = lua.create_table_with_capacity(0, 1)?;
        table.raw_set(field, lua.create_string(text)?)?;
        Ok(Value::Table(table))
    })
}

/// The text of an error with a code in front: `ERR` if it is one word only.
fn with_code(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let end = text
        .iter()
        .rposition(|byte| !matches!(byte, b'\r' | b'\n'))
        .map_or(0, |at| at + 1);
    let text = &text[..end];
    if text.contains(&b' ') {
        text.to_vec()
    } else {
        [b"ERR ", text].concat()
    }
}

/// The table `redis`.
pub(super) fn redis(
    lua: &Lua,
    host: &SharedHost,
    sandbox: &Sandbox<'_>,
    version: Version,
) -> mlua::Result<Table> {
    let redis = lua.create_table()?;
    redis.raw_set("call", call(lua, host, version, true)?)?;
    redis.raw_set("pcall", call(lua, host, version, false)?)?;
    redis.raw_set("error_reply", single_field(lua, version, "err")?)?;
    redis.raw_set("status_reply", single_field(lua, version, "ok")?)?;
    redis.raw_set("sha1hex", sha1hex(lua, version)?)?;
    redis.raw_set("log", log(lua, version)?)?;
    redis.raw_set(
        "replicate_commands",
        lua.create_function(|_, _: MultiValue| Ok(true))?,
    )?;
    redis.raw_set(
        "breakpoint",
        lua.create_function(|_, _: MultiValue| Ok(false))?,
    )?;
    redis.raw_set("debug", lua.create_function(|_, _: MultiValue| Ok(()))?)?;
    redis.raw_set("set_repl", set_repl(lua, host, version)?)?;
    redis.raw_set("setresp", setresp(lua, host, version)?)?;
    for (level, name) in ["LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"]
        .iter()
        .enumerate()
    {
        redis.raw_set(*name, level)?;
    }
    for (name, flags) in [
        ("NONE", 0),
        ("AOF", 1),
        ("SLAVE", 2),
        ("REPLICA", 2),
        ("ALL", 3),
    ] {
        redis.raw_set(format!("REPL_{name}"), flags)?;
    }
    if version > Version::Redis62 {
        redis.raw_set(
            "acl_check_cmd",
            sandbox.absent_function("redis.acl_check_cmd")?,
        )?;
        let number = if version.is_valkey() {
            "7.2.4"
        } else {
            version.number()
        };
        redis.raw_set("REDIS_VERSION", number)?;
        redis.raw_set("REDIS_VERSION_NUM", hex_version(number))?;
    }
    if version.is_valkey() {
        redis.raw_set("SERVER_NAME", "valkey")?;
        redis.raw_set("VALKEY_VERSION", version.number())?;
        redis.raw_set("VALKEY_VERSION_NUM", hex_version(version.number()))?;
    }
    Ok(redis)
}

fn hex_version(number: &str) -> i64 {
    number
        .split('.')
        .fold(0, |sum, part| sum << 8 | part.parse().unwrap_or(0))
}

fn sha1hex(lua: &Lua, version: Version) -> mlua::Result<Function> {
    lua.create_function(move |lua, args: MultiValue| {
        if args.len() != 1 {
            return Err(misuse(version, "wrong number of arguments"));
        }
        let text = args.front().cloned().unwrap_or(Value::Nil);
        let text = lua.coerce_string(text)?;
        let text = text.map_or_else(Bytes::default, |text| Bytes::from(&*text.as_bytes()));
        Ok(Sha::of(&text).to_string())
    })
}

fn log(lua: &Lua, version: Version) -> mlua::Result<Function> {
    lua.create_function(move |_, args: MultiValue| {
        let library = if version.is_valkey() {
            "server"
        } else {
            "redis"
        };
        if args.len() < 2 {
            return Err(misuse(
                version,
                &format!("{library}.log() requires two arguments or more."),
            ));
        }
        match args.front().and_then(number) {
            None => Err(misuse(
                version,
                "First argument must be a number (log level).",
            )),
            Some(level) if !(0.0..4.0).contains(&level) => {
                Err(misuse(version, "Invalid log level."))
            }
            Some(_) => Ok(()),
        }
    })
}

fn set_repl(lua: &Lua, host: &SharedHost, version: Version) -> mlua::Result<Function> {
    let host = host.clone();
    lua.create_function(move |_, args: MultiValue| {
        if args.len() != 1 {
            let library = if version.is_valkey() {
                "server"
            } else {
                "redis"
            };
            let count = if version >= Version::Redis82 {
                "one argument"
            } else {
                "two arguments"
            };
            return Err(misuse(
                version,
                &format!("{library}.set_repl() requires {count}."),
            ));
        }
        match args.front().and_then(number) {
            Some(3.0) => Ok(()),
            Some(flags) if (0.0..4.0).contains(&flags) => {
                host.borrow_mut()
                    .note_unmodelled("redis.set_repl to less than all");
                Ok(())
            }
            _ => Err(misuse(
                version,
                "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
            )),
        }
    })
}

fn setresp(lua: &Lua, host: &SharedHost, version: Version) -> mlua::Result<Function> {
    let host = host.clone();
    lua.create_function(move |_, args: MultiValue| {
        if args.len() != 1 {
            let library = if version.is_valkey() {
                "server"
            } else {
                "redis"
            };
            return Err(misuse(
                version,
                &format!("{library}.setresp() requires one argument."),
            ));
        }
        match args.front().and_then(number) {
            Some(2.0) => Ok(()),
            Some(3.0) => {
                host.borrow_mut().note_unmodelled("redis.setresp(3)");
                Ok(())
            }
            _ => Err(misuse(version, "RESP version must be 2 or 3.")),
        }
    })
}
