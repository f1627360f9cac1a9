//! A string value, with integers kept as such.

use crate::server::Bytes;
use crate::server::number::parse_integer;

/// A string. Decimal integers of 64 bits in canonical form are always held as numbers, so that equal
/// strings are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// A canonical decimal integer.
    Int(i64),
    /// Anything else.
    Raw(Bytes),
}

impl Text {
    /// The string.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::Int(number) => Bytes::decimal(*number),
            Self::Raw(bytes) => bytes.clone(),
        }
    }

    /// Its length in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Int(number) => Bytes::decimal(*number).len(),
            Self::Raw(bytes) => bytes.len(),
        }
    }

    /// The number, if the string is a canonical integer.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Raw(_) => None,
        }
    }
}

impl From<&Bytes> for Text {
    fn from(bytes: &Bytes) -> Self {
        parse_integer(bytes).map_or_else(|| Self::Raw(bytes.clone()), Self::Int)
    }
}

impl From<Bytes> for Text {
    fn from(bytes: Bytes) -> Self {
        parse_integer(&bytes).map_or(Self::Raw(bytes), Self::Int)
    }
}
