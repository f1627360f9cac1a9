//! Whose budget is meant, borrowed for the length of one call.

use std::fmt;

use limiter_core::{Budget, Identity, Policy};

/// Whose budget is meant: that of an identity, or the one that everybody shares.
///
/// It borrows, so that asking allocates nothing; everything that an [`Identity`] can be made from
/// converts. An integer means its decimal text, as it does there: `7_u64` and `"7"` are one.
///
/// `Debug` shows the length only: identities are personal data.
#[derive(Clone, Copy)]
pub struct Whose<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    Everybody,
    Bytes(&'a [u8]),
    Number { digits: [u8; MAX_DIGITS], start: u8 },
}

/// As many as `u64::MAX` has.
const MAX_DIGITS: usize = 20;

impl Whose<'static> {
    /// The budget that everybody shares. It is not the budget of the empty identity.
    pub const EVERYBODY: Self = Self(Kind::Everybody);
}

impl Whose<'_> {
    /// The bytes of the identity; `None` for everybody.
    #[inline]
    pub fn identity(&self) -> Option<&[u8]> {
        match &self.0 {
            Kind::Everybody => None,
            Kind::Bytes(bytes) => Some(bytes),
            Kind::Number { digits, start } => Some(&digits[usize::from(*start)..]),
        }
    }
}

impl Whose<'_> {
    /// The budget of it under `policy`.
    pub(crate) fn budget(&self, policy: &Policy) -> Budget {
        match self.identity() {
            Some(identity) => Budget::of(policy, identity),
            None => Budget::shared(policy),
        }
    }
}

impl<'a> From<&'a [u8]> for Whose<'a> {
    #[inline]
    fn from(bytes: &'a [u8]) -> Self {
        Self(Kind::Bytes(bytes))
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Whose<'a> {
    #[inline]
    fn from(bytes: &'a [u8; N]) -> Self {
        Self(Kind::Bytes(bytes))
    }
}

impl<'a> From<&'a str> for Whose<'a> {
    #[inline]
    fn from(text: &'a str) -> Self {
        Self(Kind::Bytes(text.as_bytes()))
    }
}

impl<'a> From<&'a String> for Whose<'a> {
    #[inline]
    fn from(text: &'a String) -> Self {
        Self(Kind::Bytes(text.as_bytes()))
    }
}

impl<'a> From<&'a Identity> for Whose<'a> {
    #[inline]
    fn from(identity: &'a Identity) -> Self {
        Self(Kind::Bytes(identity.as_bytes()))
    }
}

impl<'a> From<&'a Budget> for Whose<'a> {
    fn from(budget: &'a Budget) -> Self {
        budget.identity().map_or(Whose::EVERYBODY, Self::from)
    }
}

impl From<u64> for Whose<'_> {
    #[inline]
    fn from(mut number: u64) -> Self {
        let mut digits = [b'0'; MAX_DIGITS];
        let mut start = MAX_DIGITS - 1;
        while number >= 10 {
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            start -= 1;
        }
        digits[start] = b'0' + number as u8;
        let start = start as u8;
        Self(Kind::Number { digits, start })
    }
}

impl fmt::Debug for Whose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.identity() {
            None => f.write_str("Whose(everybody)"),
            Some(identity) => write!(f, "Whose({} bytes)", identity.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_decimal_text() {
        for number in [0, 7, 9, 10, 1234, u64::MAX - 1, u64::MAX] {
            let text = number.to_string();
            assert_eq!(Whose::from(number).identity(), Some(text.as_bytes()));
        }
    }

    #[test]
    fn debug_shows_no_identity() {
        assert_eq!(format!("{:?}", Whose::from("alice")), "Whose(5 bytes)");
    }
}
