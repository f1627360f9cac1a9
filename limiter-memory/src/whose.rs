//! Whose budget is meant, borrowed for the length of one call.

use std::fmt;

use limiter_core::{Budget, Identity, Policy};

use crate::key::ShortKey;

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
    Number(u64),
}

impl Whose<'static> {
    /// The budget that everybody shares. It is not the budget of the empty identity.
    pub const EVERYBODY: Self = Self(Kind::Everybody);
}

impl Whose<'_> {
    /// The key of the budget in a key space, where it is a short one.
    #[inline(always)] // Each conversion knows its kind: one arm is left.
    pub(crate) fn short_key(&self, space: u32) -> Option<ShortKey> {
        match self.0 {
            Kind::Everybody => Some(ShortKey::shared(space)),
            Kind::Bytes(bytes) => ShortKey::of(space, bytes),
            Kind::Number(number) => ShortKey::of_number(space, number),
        }
    }

    /// Asks with the identity of a budget that has no short key.
    #[inline]
    pub(crate) fn with_identity<R>(&self, ask: impl FnOnce(&[u8]) -> R) -> R {
        match self.0 {
            Kind::Everybody => unreachable!("the budget that everybody shares has a short key"),
            Kind::Bytes(bytes) => ask(bytes),
            Kind::Number(number) => ask(number.to_string().as_bytes()),
        }
    }

    /// The budget of it under `policy`.
    pub(crate) fn budget(&self, policy: &Policy) -> Budget {
        match self.0 {
            Kind::Everybody => Budget::shared(policy),
            Kind::Bytes(bytes) => Budget::of(policy, bytes),
            Kind::Number(number) => Budget::of(policy, number),
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
    fn from(number: u64) -> Self {
        Self(Kind::Number(number))
    }
}

impl fmt::Debug for Whose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Everybody => f.write_str("Whose(everybody)"),
            Kind::Bytes(bytes) => write!(f, "Whose({} bytes)", bytes.len()),
            Kind::Number(number) => write!(f, "Whose({} bytes)", number.to_string().len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_decimal_text() {
        for number in [
            0,
            7,
            9,
            10,
            1234,
            10_u64.pow(15) - 1,
            10_u64.pow(15),
            u64::MAX,
        ] {
            let text = number.to_string();
            let (number, text) = (Whose::from(number), Whose::from(&text));
            assert_eq!(number.short_key(7), text.short_key(7));
            if number.short_key(7).is_none() {
                let of = |whose: Whose<'_>| whose.with_identity(<[u8]>::to_vec);
                assert_eq!(of(number), of(text));
            }
        }
    }

    #[test]
    fn debug_shows_no_identity() {
        assert_eq!(format!("{:?}", Whose::from("alice")), "Whose(5 bytes)");
        assert_eq!(format!("{:?}", Whose::from(90_210)), "Whose(5 bytes)");
    }
}
