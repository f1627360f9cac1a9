//! Numbers of units, checked against what every store can count exactly.

use std::fmt;
use std::num::NonZeroU64;

use crate::Error;

/// The largest number of units that a limit, a cost or a count can have: 2^53 − 1.
///
/// Lua, which decides in Redis, has IEEE doubles for numbers; this is the largest integer below
/// which every integer is exact.
pub const MAX_UNITS: u64 = (1 << 53) - 1;

/// The most units that one window admits: 0 to [`MAX_UNITS`]. A limit of 0 is valid and denies all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Limit(u64);

impl Limit {
    /// Checks the bound.
    ///
    /// # Errors
    /// *Invalid* above [`MAX_UNITS`].
    pub fn new(units: u64) -> Result<Self, Error> {
        if units > MAX_UNITS {
            return Err(Error::invalid(format!(
                "limit {units} is out of bounds: allowed is 0 to {MAX_UNITS} (2^53 - 1)"
            )));
        }
        Ok(Self(units))
    }

    /// A part of a limit, which is within the bound because the limit is.
    pub(crate) fn part(self, units: u64) -> Self {
        Self(units.min(self.0))
    }

    /// The number of units.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The units that one acquisition asks for: 1 to [`MAX_UNITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(NonZeroU64);

impl Cost {
    /// One unit.
    pub const ONE: Self = Self(NonZeroU64::MIN);

    /// Checks the bounds.
    ///
    /// # Errors
    /// *Invalid* for 0 and above [`MAX_UNITS`].
    pub fn new(units: u64) -> Result<Self, Error> {
        match NonZeroU64::new(units) {
            Some(nonzero) if units <= MAX_UNITS => Ok(Self(nonzero)),
            _ => Err(Error::invalid(format!(
                "cost {units} is out of bounds: allowed is 1 to {MAX_UNITS} (2^53 - 1)"
            ))),
        }
    }

    /// The number of units.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
