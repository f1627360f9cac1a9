//! The answers: admitted or denied.

use crate::{Admission, Denial};

/// The answer to an [`Acquire`](crate::Acquire). Both are answers; neither is an error.
#[derive(Debug)]
#[must_use = "a decision that nobody reads limits nothing"]
pub enum Decision {
    /// Every charge was applied.
    Admitted(Admission),
    /// No charge was applied, and nothing changed.
    Denied(Denial),
}

impl Decision {
    /// Whether the work may go ahead.
    pub fn is_admitted(&self) -> bool {
        matches!(self, Self::Admitted(_))
    }

    /// The admission, if it is one.
    pub fn admitted(self) -> Option<Admission> {
        match self {
            Self::Admitted(admission) => Some(admission),
            Self::Denied(_) => None,
        }
    }

    /// The denial, if it is one.
    pub fn denied(self) -> Option<Denial> {
        match self {
            Self::Denied(denial) => Some(denial),
            Self::Admitted(_) => None,
        }
    }
}
