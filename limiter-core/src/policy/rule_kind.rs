//! The names of the rules, and sets of them.

use std::fmt;

/// Which time rule, without its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RuleKind {
    /// A window that opens at the first admission.
    FirstArrival,
    /// Windows cut at multiples of their length.
    Aligned,
    /// Every interval of a length.
    Rolling,
    /// A bucket that refills evenly.
    TokenBucket,
    /// Leases at once.
    InFlight,
}

impl RuleKind {
    /// Every rule, the main one first.
    pub const ALL: [Self; 5] = [
        Self::FirstArrival,
        Self::Aligned,
        Self::Rolling,
        Self::TokenBucket,
        Self::InFlight,
    ];

    /// The name in lower case with hyphens, stable: for keys, logs and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FirstArrival => "first-arrival",
            Self::Aligned => "aligned",
            Self::Rolling => "rolling",
            Self::TokenBucket => "token-bucket",
            Self::InFlight => "in-flight",
        }
    }

    /// Whether this rule has windows: intervals that begin with a count of 0, and in which each
    /// total is reported once.
    pub const fn has_windows(self) -> bool {
        matches!(self, Self::FirstArrival | Self::Aligned)
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of time rules.
///
/// ```
/// use limiter_core::{RuleKind, RuleSet};
///
/// let kept = RuleSet::NONE.with(RuleKind::FirstArrival).with(RuleKind::Aligned);
/// assert!(kept.contains(RuleKind::Aligned) && !kept.contains(RuleKind::Rolling));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleSet(u8);

impl RuleSet {
    /// No rule.
    pub const NONE: Self = Self(0);

    /// Every rule.
    pub const ALL: Self = Self::NONE
        .with(RuleKind::FirstArrival)
        .with(RuleKind::Aligned)
        .with(RuleKind::Rolling)
        .with(RuleKind::TokenBucket)
        .with(RuleKind::InFlight);

    /// This set and `rule`.
    #[must_use]
    pub const fn with(self, rule: RuleKind) -> Self {
        Self(self.0 | rule.bit())
    }

    /// This set but for `rule`.
    #[must_use]
    pub const fn without(self, rule: RuleKind) -> Self {
        Self(self.0 & !rule.bit())
    }

    /// Whether `rule` is in it.
    pub const fn contains(self, rule: RuleKind) -> bool {
        self.0 & rule.bit() != 0
    }

    /// The rules in it, the main one first.
    pub fn iter(self) -> impl Iterator<Item = RuleKind> {
        let all = RuleKind::ALL.into_iter();
        all.filter(move |rule| self.contains(*rule))
    }
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
