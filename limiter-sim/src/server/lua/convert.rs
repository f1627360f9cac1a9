//! Values between Lua and the server.

use mlua::{Lua, MultiValue, Table, Value};

use crate::server::number::{format_17g, shortest};
use crate::server::{Bytes, Reply, Version};

/// Deeper results end in an error, as on the real server.
const MAX_DEPTH: usize = 7_000;

/// The words of `redis.call`, or nothing if one is neither a string nor a number.
pub(crate) fn words(args: &MultiValue, version: Version) -> Option<Vec<Bytes>> {
    args.iter().map(|arg| word(arg, version)).collect()
}

fn word(arg: &Value, version: Version) -> Option<Bytes> {
    match arg {
        Value::String(text) => Some(Bytes::from(&*text.as_bytes())),
        Value::Integer(number) => Some(number_word(*number as f64, version)),
        Value::Number(number) => Some(number_word(*number, version)),
        _ => None,
    }
}

fn number_word(number: f64, version: Version) -> Bytes {
    if version <= Version::Redis70 {
        return format_17g(number).into();
    }
    shortest(number)
}

/// A reply as the script sees it.
pub(crate) fn to_lua(lua: &Lua, reply: &Reply) -> mlua::Result<Value> {
    let single = |field: &str, text: &Bytes| -> mlua::Result<Value> {
        let table = lua.create_table_with_capacity(0, 1)?;
        table.raw_set(field, lua.create_string(text)?)?;
        Ok(Value::Table(table))
    };
    match reply {
        Reply::Int(number) => Ok(Value::Number(*number as f64)),
        Reply::Bulk(text) => Ok(Value::String(lua.create_string(text)?)),
        Reply::Status(text) => single("ok", text),
        Reply::Error(text) => single("err", text),
        Reply::Nil | Reply::NilArray => Ok(Value::Boolean(false)),
        Reply::Array(elements) => {
            let table = lua.create_table_with_capacity(elements.len(), 0)?;
            for (at, element) in elements.iter().enumerate() {
                table.raw_set(at + 1, to_lua(lua, element)?)?;
            }
            Ok(Value::Table(table))
        }
    }
}

/// What a script returned, as a reply.
pub(crate) fn from_lua(value: &Value, version: Version) -> mlua::Result<Reply> {
    element(value, version, 0)
}

fn element(value: &Value, version: Version, depth: usize) -> mlua::Result<Reply> {
    Ok(match value {
        Value::String(text) => Reply::Bulk(Bytes::from(&*text.as_bytes())),
        Value::Boolean(true) => Reply::Int(1),
        Value::Integer(number) => Reply::Int(*number),
        Value::Number(number) => Reply::Int(cut(*number)),
        Value::Table(_) if depth >= MAX_DEPTH => Reply::error("ERR reached lua stack limit"),
        Value::Table(table) => from_table(table, version, depth)?,
        _ => Reply::Nil,
    })
}

/// A number cut toward zero; what does not fit becomes the smallest integer, as x86 converts.
fn cut(number: f64) -> i64 {
    let fits = (-9.223_372_036_854_776e18..9.223_372_036_854_776e18).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}

fn from_table(table: &Table, version: Version, depth: usize) -> mlua::Result<Reply> {
    if let Value::String(text) = table.raw_get("err")? {
        return Ok(Reply::Error(one_line(c_string(&text.as_bytes()))));
    }
    if let Value::String(text) = table.raw_get("ok")? {
        return Ok(Reply::Status(one_line(c_string(&text.as_bytes()))));
    }
    if let Value::Number(number) = as_number(table.raw_get("double")?) {
        return Ok(Reply::Bulk(number_word(number, version)));
    }
    if version > Version::Redis62 {
        if let Value::String(digits) = table.raw_get("big_number")? {
            return Ok(Reply::Bulk(one_line(&digits.as_bytes())));
        }
        if let Value::Table(verbatim) = table.raw_get("verbatim_string")?
            && let (Value::String(text), Value::String(_)) =
                (verbatim.raw_get("string")?, verbatim.raw_get("format")?)
        {
            return Ok(Reply::Bulk(Bytes::from(&*text.as_bytes())));
        }
    }
    if let Value::Table(map) = table.raw_get("map")? {
        return pairs(&map, version, depth, true);
    }
    if let Value::Table(set) = table.raw_get("set")? {
        return pairs(&set, version, depth, false);
    }
    let mut elements = Vec::new();
    for at in 1_i64.. {
        match table.raw_get(at)? {
            Value::Nil => break,
            value => elements.push(element(&value, version, depth + 1)?),
        }
    }
    Ok(Reply::array(elements))
}

fn pairs(table: &Table, version: Version, depth: usize, with_values: bool) -> mlua::Result<Reply> {
    let mut elements = Vec::new();
    for pair in table.pairs::<Value, Value>() {
        let (key, value) = pair?;
        elements.push(element(&key, version, depth + 1)?);
        if with_values {
            elements.push(element(&value, version, depth + 1)?);
        }
    }
    Ok(Reply::array(elements))
}

fn as_number(value: Value) -> Value {
    match value {
        Value::Integer(number) => Value::Number(number as f64),
        other => other,
    }
}

/// A text up to its first zero byte: that is how the server reads these fields.
pub(crate) fn c_string(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or(text)
}

/// A text that goes out as one line of the protocol.
pub(crate) fn one_line(text: &[u8]) -> Bytes {
    let end = text
        .iter()
        .rposition(|byte| !matches!(byte, b'\r' | b'\n'))
        .map_or(0, |at| at + 1);
    let clean = text[..end].iter().map(|byte| {
        if matches!(byte, b'\r' | b'\n') {
            b' '
        } else {
            *byte
        }
    });
    Bytes::from(clean.collect::<Vec<u8>>())
}
