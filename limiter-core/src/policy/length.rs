//! How long a window is.

use std::fmt;
use std::time::Duration;

use crate::Error;

/// The length of a window in whole milliseconds: 1 ms to 366 days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(u64);

impl Length {
    /// The longest length: 366 days, in milliseconds.
    pub const MAX_MS: u64 = 366 * 24 * 60 * 60 * 1000;

    /// The default life of a request's record.
    pub(crate) const FIVE_MINUTES: Self = Self(5 * 60 * 1000);

    /// Checks the bounds.
    ///
    /// # Errors
    /// *Invalid* below 1 ms, above 366 days, and where `length` is not a whole number of
    /// milliseconds: a store keeps milliseconds, and rounding would change the promise in silence.
    pub fn new(length: Duration) -> Result<Self, Error> {
        let refuse = |why: &str| {
            Err(Error::invalid(format!(
                "length {length:?} {why}: allowed is 1 ms to 366 days in whole milliseconds"
            )))
        };
        if !length.subsec_nanos().is_multiple_of(1_000_000) {
            return refuse("is not a whole number of milliseconds");
        }
        match u64::try_from(length.as_millis()) {
            Ok(ms @ 1..=Self::MAX_MS) => Ok(Self(ms)),
            _ => refuse("is out of bounds"),
        }
    }

    /// The length in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

impl From<Length> for Duration {
    fn from(length: Length) -> Self {
        Self::from_millis(length.0)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", Duration::from(*self))
    }
}
