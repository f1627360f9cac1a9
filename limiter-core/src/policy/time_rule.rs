//! When credit comes back.

use crate::{Length, Limit, RuleKind};

/// When credit comes back.
///
/// Time is whole milliseconds of store time. A window that opened at `t` contains the instants
/// `t` to `t + length`, both included, and the next one can open at `t + length + 1 ms`. That is
/// Redis' own rule (a key lives while `now <= deadline`), taken as it is so that no store has to
/// fight it. Rolling intervals and leases are closed in the same way; aligned windows are half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeRule {
    /// The window opens at the first admission and lasts `length`. A denial neither spends nor
    /// extends. After it ends, the next admission opens a new one.
    FirstArrival {
        /// How long a window lasts.
        length: Length,
    },
    /// Windows are cut at multiples of `length` in store time, counted from the Unix epoch.
    Aligned {
        /// How long a window lasts.
        length: Length,
    },
    /// At most the limit in *every* interval of `length`.
    Rolling {
        /// How long an admission counts.
        length: Length,
    },
    /// The limit comes back evenly in each `length`; up to `burst` of it may be saved up.
    TokenBucket {
        /// How long it takes until as many units as the limit have come back.
        length: Length,
        /// The most units that can be saved up, and so the most that one cost can be.
        burst: Limit,
    },
    /// At most the limit in leases that have neither been given back nor ended.
    InFlight {
        /// How long a lease lasts unless it is released or renewed.
        lease: Length,
    },
}

impl TimeRule {
    /// Which rule it is, without its numbers.
    pub const fn kind(&self) -> RuleKind {
        match self {
            Self::FirstArrival { .. } => RuleKind::FirstArrival,
            Self::Aligned { .. } => RuleKind::Aligned,
            Self::Rolling { .. } => RuleKind::Rolling,
            Self::TokenBucket { .. } => RuleKind::TokenBucket,
            Self::InFlight { .. } => RuleKind::InFlight,
        }
    }

    /// How long a window or a lease lasts, an admission counts, or the limit takes to come back.
    pub const fn length(&self) -> Length {
        match self {
            Self::FirstArrival { length }
            | Self::Aligned { length }
            | Self::Rolling { length }
            | Self::TokenBucket { length, .. }
            | Self::InFlight { lease: length } => *length,
        }
    }

    /// The word for this rule in a budget's key: it names the rule *and* the stored form, so that
    /// two forms never meet under one key. Only windows are stored otherwise where they can be
    /// refunded; the state of the other rules holds what a refund needs anyway.
    pub(crate) const fn stored_form(&self, refundable: bool) -> &'static str {
        match (self, refundable) {
            (Self::FirstArrival { .. }, true) => "first-arrival-refundable",
            (Self::Aligned { .. }, true) => "aligned-refundable",
            (rule, _) => rule.kind().as_str(),
        }
    }

    /// The largest cost that this rule can ever admit under `limit`.
    #[inline]
    pub fn largest_cost(&self, limit: Limit) -> Limit {
        match self {
            Self::TokenBucket { burst, .. } => limit.min(*burst),
            _ => limit,
        }
    }
}
