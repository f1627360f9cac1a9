//! How errors travel through Lua, and what the client reads in the end.

use std::fmt;

use mlua::{Lua, Value};

use super::Sha;
use super::convert::{c_string, one_line};
use super::host::{Fault, FaultKind};
use crate::server::{Reply, Version};

/// An error value that a function of the server raises. Scripts never see it: wherever Lua code can get
/// hold of an error it is turned into what the real server would have raised.
#[derive(Debug)]
pub(crate) enum Raised {
    /// A string.
    Text(Vec<u8>),
    /// A table with this `err` field.
    ErrTable(Vec<u8>),
    /// The script has run for too long.
    Endless,
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::ErrTable(text) => f.write_str(&String::from_utf8_lossy(text)),
            Self::Endless => f.write_str("the script did not return within its instruction limit"),
        }
    }
}

impl std::error::Error for Raised {}

impl From<Raised> for mlua::Error {
    fn from(raised: Raised) -> Self {
        Self::external(raised)
    }
}

/// A raised string that begins with the place of the caller, as C functions of Lua raise them.
pub(crate) fn at_caller(lua: &Lua, text: &str) -> mlua::Error {
    let place = place(lua, 1).filter(|place| place.line.is_some());
    let prefix = place.map_or_else(String::new, |place| {
        format!("{}:{}: ", place.short, place.line.unwrap_or(0))
    });
    Raised::Text(format!("{prefix}{text}").into_bytes()).into()
}

/// Where a function on the stack is.
pub(crate) struct Place {
    pub(crate) source: String,
    pub(crate) short: String,
    pub(crate) line: Option<usize>,
    pub(crate) is_c: bool,
}

/// The place of the function at a level: 0 is the server's own function that asks.
pub(crate) fn place(lua: &Lua, level: usize) -> Option<Place> {
    lua.inspect_stack(level, |debug| {
        let source = debug.source();
        Place {
            source: source.source.as_deref().unwrap_or("=?").to_owned(),
            short: source.short_src.as_deref().unwrap_or("?").to_owned(),
            line: debug.current_line(),
            is_c: source.what == "C",
        }
    })
}

/// What was raised, and where: called while the erring function is still on the stack.
pub(crate) fn fault(lua: &Lua, value: &Value) -> Fault {
    let mut nearest = place(lua, 1);
    if nearest.as_ref().is_some_and(|place| place.is_c) {
        nearest = place(lua, 2);
    }
    let source = nearest.map(|place| {
        let line = place.line.map_or(-1, |line| line as i64);
        format!("{}:{line}", place.source)
    });
    Fault {
        kind: kind(value),
        source,
    }
}

fn kind(value: &Value) -> FaultKind {
    match value {
        Value::String(text) => FaultKind::Text(text.as_bytes().to_vec()),
        Value::Integer(number) => FaultKind::Text(number.to_string().into_bytes()),
        Value::Number(number) => {
            FaultKind::Text(crate::server::number::format_g(*number, 14).into_bytes())
        }
        Value::Table(table) => match table.raw_get("err") {
            Ok(Value::String(text)) => FaultKind::ErrTable(text.as_bytes().to_vec()),
            _ => FaultKind::Other("table", b"table".to_vec()),
        },
        Value::Error(error) => match raised(error) {
            Some(Raised::Text(text)) => FaultKind::Text(text.clone()),
            Some(Raised::ErrTable(text)) => FaultKind::ErrTable(text.clone()),
            Some(Raised::Endless) => FaultKind::Endless,
            None => FaultKind::Text(plain(error)),
        },
        Value::Nil => FaultKind::Other("nil", b"nil".to_vec()),
        Value::Boolean(value) => FaultKind::Other("boolean", value.to_string().into_bytes()),
        other => FaultKind::Other(other.type_name(), other.type_name().as_bytes().to_vec()),
    }
}

/// The value of the server's own that travels inside an error of the bindings.
pub(crate) fn raised(error: &mlua::Error) -> Option<&Raised> {
    error.downcast_ref::<Raised>()
}

/// The text of an error of the bindings without what they add to it.
pub(crate) fn plain(error: &mlua::Error) -> Vec<u8> {
    match error {
        mlua::Error::CallbackError { cause, .. } => plain(cause),
        mlua::Error::RuntimeError(text) | mlua::Error::MemoryError(text) => {
            text.clone().into_bytes()
        }
        other => other.to_string().into_bytes(),
    }
}

/// The reply to a script that ran out of memory.
pub(crate) fn too_large(mib: usize) -> Reply {
    Reply::error(format!("MODEL script needed more than {mib} MiB"))
}

/// The reply to a script that ended in an error.
pub(crate) fn reply(fault: &Fault, sha: Sha, version: Version, limit: u32) -> Reply {
    if matches!(fault.kind, FaultKind::Endless) {
        return Reply::error(format!(
            "MODEL script did not return within {limit} instructions"
        ));
    }
    let mut fault = fault.clone();
    if let FaultKind::Text(text) | FaultKind::ErrTable(text) = &mut fault.kind {
        text.truncate(c_string(text).len());
    }
    let text = match version {
        Version::Redis62 => old_text(&fault, sha),
        _ => new_text(&fault, sha, version),
    };
    // Redis 8.2 sends line breaks as they are, which breaks the protocol.
    let raw = version == Version::Redis82;
    Reply::Error(if raw { text.into() } else { one_line(&text) })
}

fn old_text(fault: &Fault, sha: Sha) -> Vec<u8> {
    let mut text = format!("ERR Error running script (call to f_{sha}): ").into_bytes();
    let (place, message) = match &fault.kind {
        FaultKind::Text(message) => (fault.source.clone(), message.clone()),
        other => {
            let kind = if let FaultKind::Other(kind, _) = other {
                kind
            } else {
                "table"
            };
            let handler = "err_handler_def:9";
            let message = format!("{handler}: attempt to concatenate local 'err' (a {kind} value)");
            (Some(format!("@{handler}")), message.into_bytes())
        }
    };
    if let Some(place) = place {
        text.extend_from_slice(place.as_bytes());
        text.extend_from_slice(b": ");
    }
    text.extend_from_slice(&message);
    text
}

fn new_text(fault: &Fault, sha: Sha, version: Version) -> Vec<u8> {
    let mut text = match &fault.kind {
        FaultKind::ErrTable(message) => message.clone(),
        FaultKind::Other("table", _) => b"ERR unknown error".to_vec(),
        FaultKind::Text(message) | FaultKind::Other(_, message) => {
            [b"ERR ", message.as_slice()].concat()
        }
        FaultKind::Endless => Vec::new(),
    };
    if let Some(source) = &fault.source {
        let sha = if version.is_valkey() {
            String::new()
        } else {
            format!("{sha}, ")
        };
        text.extend_from_slice(format!(" script: {sha}on {source}.").as_bytes());
    }
    text
}
