//! The rules and stored forms under which a clause is checked.

use std::fmt;
use std::time::Duration;

use crate::{Capabilities, Error, Policy, RuleKind};

/// A rule, and whether its policies are refundable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The time rule.
    pub rule: RuleKind,
    /// Whether admissions can be refunded.
    pub refundable: bool,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 9] = [
        Self::plain(RuleKind::FirstArrival),
        Self::plain(RuleKind::Aligned),
        Self::plain(RuleKind::Rolling),
        Self::plain(RuleKind::TokenBucket),
        Self::plain(RuleKind::InFlight),
        Self::refundable(RuleKind::FirstArrival),
        Self::refundable(RuleKind::Aligned),
        Self::refundable(RuleKind::Rolling),
        Self::refundable(RuleKind::TokenBucket),
    ];

    const fn plain(rule: RuleKind) -> Self {
        let refundable = false;
        Self { rule, refundable }
    }

    const fn refundable(rule: RuleKind) -> Self {
        let refundable = true;
        Self { rule, refundable }
    }

    /// Whether admissions hand back receipts.
    pub fn gives_receipts(self) -> bool {
        self.refundable || self.rule == RuleKind::InFlight
    }

    /// Why a store that offers `offered` does not keep it.
    pub(super) fn not_kept(self, offered: &Capabilities) -> Option<String> {
        if !offered.rules.contains(self.rule) {
            return Some(format!("does not keep {}", self.rule));
        }
        let refunds = !self.refundable || offered.refunds.contains(self.rule);
        (!refunds).then(|| format!("takes no refunds under {}", self.rule))
    }

    /// A policy of this form. A bucket's burst is its limit.
    pub(super) fn policy(self, scope: &str, limit: u64, length: Duration) -> Result<Policy, Error> {
        let built = Policy::named("conformance").scope(scope).limit(limit);
        let built = match self.rule {
            RuleKind::FirstArrival => built.first_arrival(length),
            RuleKind::Aligned => built.aligned(length),
            RuleKind::Rolling => built.rolling(length),
            RuleKind::TokenBucket => built.token_bucket(length, limit),
            RuleKind::InFlight => built.in_flight(length),
        };
        match self.refundable {
            true => built.refundable().build(),
            false => built.build(),
        }
    }
}

/// `rolling`, or `rolling, refundable`.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)?;
        f.write_str(if self.refundable { ", refundable" } else { "" })
    }
}
