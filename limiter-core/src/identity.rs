//! Who is counted.

use std::fmt;

use smallvec::SmallVec;

/// Who is counted: an account, an API key, an address. Any bytes, also none at all.
///
/// Up to 16 bytes are kept inline. An integer is its decimal text, so that `7_u64` and `"7"` are
/// the same identity in every store.
///
/// `Debug` shows the length only: identities are personal data, and do not belong in logs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(SmallVec<[u8; 16]>);

impl Identity {
    /// The bytes as they were given.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Identity {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<&[u8]> for Identity {
    fn from(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }
}

impl From<&str> for Identity {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

impl From<String> for Identity {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl From<Vec<u8>> for Identity {
    fn from(bytes: Vec<u8>) -> Self {
        Self(SmallVec::from_vec(bytes))
    }
}

impl From<u64> for Identity {
    fn from(number: u64) -> Self {
        Self::from(number.to_string())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({} bytes)", self.0.len())
    }
}
