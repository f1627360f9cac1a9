//! A byte string that is cheap to clone, hash and compare.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// What fits without an allocation: an `i64` in decimal does.
const INLINE: usize = 22;

/// An immutable byte string: short ones are held in place, long ones are shared.
#[derive(Clone)]
pub struct Bytes(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, data: [u8; INLINE] },
    Shared(Arc<[u8]>),
}

impl Bytes {
    /// A decimal number, as Redis writes integers.
    #[must_use]
    pub fn decimal(number: i64) -> Self {
        let mut digits = [0_u8; INLINE];
        let mut at = INLINE;
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            at -= 1;
            digits[at] = b'-';
        }
        Self::from(&digits[at..])
    }

    /// The same with ASCII letters in lower case.
    #[must_use]
    pub fn to_lower(&self) -> Self {
        Self::from(self.to_ascii_lowercase())
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    #[must_use]
    pub fn lossy(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, data } => &data[..usize::from(*len)],
            Repr::Shared(data) => data,
        }
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Self {
        if bytes.len() <= INLINE {
            let mut data = [0; INLINE];
            data[..bytes.len()].copy_from_slice(bytes);
            Self(Repr::Inline {
                len: bytes.len() as u8,
                data,
            })
        } else {
            Self(Repr::Shared(bytes.into()))
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        if bytes.len() <= INLINE {
            Self::from(bytes.as_slice())
        } else {
            Self(Repr::Shared(bytes.into()))
        }
    }
}

impl<const N: usize> From<&[u8; N]> for Bytes {
    fn from(bytes: &[u8; N]) -> Self {
        Self::from(bytes.as_slice())
    }
}

impl From<&str> for Bytes {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

impl From<String> for Bytes {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::from("")
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl PartialOrd for Bytes {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bytes {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for Bytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl Borrow<[u8]> for Bytes {
    fn borrow(&self) -> &[u8] {
        self
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// Printable ASCII as it is, everything else as `\xNN`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &byte in &**self {
            match byte {
                b' '..=b'~' => write!(f, "{}", char::from(byte))?,
                b'\n' => f.write_str("\\n")?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        Ok(())
    }
}
