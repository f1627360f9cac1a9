//! The name of a script.

use std::fmt;

/// A SHA-1 sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Sha([u8; 20]);

impl Sha {
    pub(crate) fn of(text: &[u8]) -> Self {
        Self(sha1_smol::Sha1::from(text).digest().bytes())
    }

    /// Reads 40 hexadecimal digits in any case.
    pub(crate) fn parse(hex: &[u8]) -> Option<Self> {
        let mut sum = [0; 20];
        if hex.len() != 40 {
            return None;
        }
        for (byte, pair) in sum.iter_mut().zip(hex.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Some(Self(sum))
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
