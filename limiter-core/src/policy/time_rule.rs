//! When credit comes back.

use crate::Length;

/// When credit comes back.
///
/// Time is whole milliseconds of store time. A window that opened at `t` contains the instants
/// `t` to `t + length`, both included, and the next one can open at `t + length + 1 ms`. That is
/// Redis' own rule (a key lives while `now <= deadline`), taken as it is so that no store has to
/// fight it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeRule {
    /// The window opens at the first admission and lasts `length`. A denial neither spends nor
    /// extends. After it ends, the next admission opens a new one.
    FirstArrival {
        /// How long a window lasts.
        length: Length,
    },
}

impl TimeRule {
    /// The word for this rule in a budget's key: it names the rule *and* the stored form, so that
    /// two forms never meet under one key.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::FirstArrival { .. } => "first-arrival",
        }
    }

    /// How long a window lasts.
    pub const fn length(&self) -> Length {
        match self {
            Self::FirstArrival { length } => *length,
        }
    }
}
