//! What a server answers.

use std::fmt;
use std::sync::Arc;

use super::Bytes;

/// One reply, as RESP2 tells them apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// A status line such as `OK`.
    Status(Bytes),
    /// An error line; its first word is the code.
    Error(Bytes),
    /// An integer.
    Int(i64),
    /// A byte string.
    Bulk(Bytes),
    /// The absent string.
    Nil,
    /// The absent array (an aborted `EXEC`).
    NilArray,
    /// An array.
    Array(Arc<[Reply]>),
}

impl Reply {
    /// `OK`.
    #[must_use]
    pub fn ok() -> Self {
        Self::status("OK")
    }

    /// A status line.
    #[must_use]
    pub fn status(text: &str) -> Self {
        Self::Status(text.into())
    }

    /// An error line.
    pub fn error(text: impl Into<Bytes>) -> Self {
        Self::Error(text.into())
    }

    /// An array.
    #[must_use]
    pub fn array(elements: Vec<Self>) -> Self {
        Self::Array(elements.into())
    }

    /// The error's text, if this is one.
    #[must_use]
    pub fn as_error(&self) -> Option<&Bytes> {
        match self {
            Self::Error(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes that the server sends for this reply in RESP2.
    #[must_use]
    pub fn to_resp(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        self.write_resp(&mut out);
        out
    }

    /// Appends the bytes of [`to_resp`](Self::to_resp) to a buffer.
    pub fn write_resp(&self, out: &mut Vec<u8>) {
        match self {
            Self::Status(text) => line(out, b'+', text),
            Self::Error(text) => line(out, b'-', text),
            Self::Int(number) => line(out, b':', &Bytes::decimal(*number)),
            Self::Bulk(bytes) => {
                line(out, b'$', &Bytes::decimal(bytes.len() as i64));
                out.extend_from_slice(bytes);
                out.extend_from_slice(b"\r\n");
            }
            Self::Nil => out.extend_from_slice(b"$-1\r\n"),
            Self::NilArray => out.extend_from_slice(b"*-1\r\n"),
            Self::Array(elements) => {
                line(out, b'*', &Bytes::decimal(elements.len() as i64));
                for element in &**elements {
                    element.write_resp(out);
                }
            }
        }
    }
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend_from_slice(text);
    out.extend_from_slice(b"\r\n");
}

/// As `redis-cli` would show it, on one line.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(text) => write!(f, "{text}"),
            Self::Error(text) => write!(f, "({text})"),
            Self::Int(number) => write!(f, "{number}"),
            Self::Bulk(bytes) => write!(f, "\"{bytes}\""),
            Self::Nil | Self::NilArray => f.write_str("nil"),
            Self::Array(elements) => {
                f.write_str("[")?;
                for (at, element) in elements.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Why a command was refused: the text of the error reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) Bytes);

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Failure {
    pub(crate) const WRONG_TYPE: &'static str =
        "WRONGTYPE Operation against a key holding the wrong kind of value";
    pub(crate) const NOT_INTEGER: &'static str = "ERR value is not an integer or out of range";
    pub(crate) const NOT_FLOAT: &'static str = "ERR value is not a valid float";
    pub(crate) const SYNTAX: &'static str = "ERR syntax error";

    pub(crate) fn wrong_type() -> Self {
        Self::WRONG_TYPE.into()
    }
    pub(crate) fn not_integer() -> Self {
        Self::NOT_INTEGER.into()
    }
    pub(crate) fn syntax() -> Self {
        Self::SYNTAX.into()
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::Error(failure.0)
    }
}

/// A word of a request inside of an error text: up to its first zero byte, and on one line.
pub(crate) fn printed(word: &[u8]) -> Vec<u8> {
    let word = word.split(|byte| *byte == 0).next().unwrap_or(word);
    let one_line = word.iter().map(|byte| {
        if matches!(byte, b'\r' | b'\n') {
            b' '
        } else {
            *byte
        }
    });
    one_line.collect()
}

impl Failure {
    /// A text with a word of the request in it.
    pub(crate) fn about(before: &str, word: &[u8], after: &str) -> Self {
        Self(
            [before.as_bytes(), &printed(word), after.as_bytes()]
                .concat()
                .into(),
        )
    }
}
