//! The library `cjson`, as far as scripts use it: `encode`, `decode` and `null` with their default settings.

use mlua::{Lua, MultiValue, Table, Value};

use super::errors::at_caller;
use super::json_text::{Parser, Problem};
use super::sandbox::Sandbox;
use crate::server::number::format_g;

const MAX_DEPTH: usize = 1_000;

/// Builds the library.
pub(super) fn library(lua: &Lua, sandbox: &Sandbox<'_>) -> mlua::Result<Table> {
    let cjson = lua.create_table()?;
    cjson.raw_set("encode", lua.create_function(encode)?)?;
    cjson.raw_set("decode", lua.create_function(decode)?)?;
    cjson.raw_set("null", Value::NULL)?;
    cjson.raw_set("_NAME", "cjson")?;
    cjson.raw_set("_VERSION", "2.1.0")?;
    let settings = [
        ("new", "cjson.new"),
        ("encode_sparse_array", "cjson.encode_sparse_array"),
        ("encode_max_depth", "cjson.encode_max_depth"),
        ("decode_max_depth", "cjson.decode_max_depth"),
        ("encode_number_precision", "cjson.encode_number_precision"),
        ("encode_keep_buffer", "cjson.encode_keep_buffer"),
        ("encode_invalid_numbers", "cjson.encode_invalid_numbers"),
        ("decode_invalid_numbers", "cjson.decode_invalid_numbers"),
    ];
    for (name, full) in settings {
        cjson.raw_set(name, sandbox.absent_function(full)?)?;
    }
    Ok(cjson)
}

fn encode(lua: &Lua, args: MultiValue) -> mlua::Result<mlua::LuaString> {
    if args.len() != 1 {
        return Err(at_caller(
            lua,
            "bad argument #1 to 'encode' (expected 1 argument)",
        ));
    }
    let mut out = Vec::new();
    let value = args.front().cloned().unwrap_or(Value::Nil);
    match append(&mut out, &value, 0) {
        Ok(()) => lua.create_string(out),
        Err(text) => Err(at_caller(lua, &text)),
    }
}

fn append(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), String> {
    match value {
        Value::Nil => out.extend_from_slice(b"null"),
        value if *value == Value::NULL => out.extend_from_slice(b"null"),
        Value::Boolean(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Value::Integer(number) => append_number(out, *number as f64)?,
        Value::Number(number) => append_number(out, *number)?,
        Value::String(text) => append_string(out, &text.as_bytes()),
        Value::Table(table) => append_table(out, table, depth + 1)?,
        other => {
            return Err(format!(
                "Cannot serialise {}: type not supported",
                other.type_name()
            ));
        }
    }
    Ok(())
}

fn append_number(out: &mut Vec<u8>, number: f64) -> Result<(), String> {
    if !number.is_finite() {
        return Err("Cannot serialise number: must not be NaN or Inf".into());
    }
    out.extend_from_slice(format_g(number, 14).as_bytes());
    Ok(())
}

fn append_string(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' | b'/' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 | 0x7f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

fn append_table(out: &mut Vec<u8>, table: &Table, depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("Cannot serialise, excessive depth ({depth})"));
    }
    let lua_failed = |error: mlua::Error| error.to_string();
    let len = array_length(table)?;
    if len > 0 {
        out.push(b'[');
        for at in 1..=len {
            if at > 1 {
                out.push(b',');
            }
            append(out, &table.raw_get(at).map_err(lua_failed)?, depth)?;
        }
        out.push(b']');
        return Ok(());
    }
    out.push(b'{');
    for (at, pair) in table.pairs::<Value, Value>().enumerate() {
        let (key, value) = pair.map_err(lua_failed)?;
        if at > 0 {
            out.push(b',');
        }
        match &key {
            Value::String(text) => append_string(out, &text.as_bytes()),
            Value::Integer(_) | Value::Number(_) => {
                out.push(b'"');
                append(out, &key, depth)?;
                out.push(b'"');
            }
            other => {
                let kind = other.type_name();
                return Err(format!(
                    "Cannot serialise {kind}: table key must be a number or string"
                ));
            }
        }
        out.push(b':');
        append(out, &value, depth)?;
    }
    out.push(b'}');
    Ok(())
}

/// The length of a table that has no keys but positive integers, else 0.
fn array_length(table: &Table) -> Result<i64, String> {
    let (mut max, mut items) = (0_i64, 0_i64);
    for pair in table.pairs::<Value, Value>() {
        let (key, _) = pair.map_err(|error| error.to_string())?;
        let index = match key {
            Value::Integer(index) => index,
            Value::Number(index) if index == index.floor() => index as i64,
            _ => return Ok(0),
        };
        if index < 1 {
            return Ok(0);
        }
        max = max.max(index);
        items += 1;
    }
    if max > items * 2 && max > 10 {
        return Err("Cannot serialise table: excessively sparse array".into());
    }
    Ok(max)
}

fn decode(lua: &Lua, args: MultiValue) -> mlua::Result<Value> {
    if args.len() != 1 {
        return Err(at_caller(
            lua,
            "bad argument #1 to 'decode' (expected 1 argument)",
        ));
    }
    let value = args.front().cloned().unwrap_or(Value::Nil);
    let kind = value.type_name();
    let Some(text) = lua.coerce_string(value)? else {
        return Err(at_caller(
            lua,
            &format!("bad argument #1 to 'decode' (string expected, got {kind})"),
        ));
    };
    match Parser::new(lua, &text.as_bytes()).document() {
        Ok(value) => Ok(value),
        Err(Problem::Text(text)) => Err(at_caller(lua, &text)),
        Err(Problem::Lua(error)) => Err(error),
    }
}
