//! Unit, scope, limit and time rule, validated once.

pub(crate) mod bounds;
mod builder;
mod key_space;
mod length;
mod rule_kind;
mod share;
mod time_rule;

use std::fmt;
use std::sync::Arc;

pub use builder::PolicyBuilder;
pub use key_space::KeySpace;
pub use length::Length;
pub use rule_kind::{RuleKind, RuleSet};
pub use share::Share;
pub use time_rule::TimeRule;

use crate::{Error, Limit};

/// What may be spent: a unit, a scope, a limit and a time rule, under a name.
///
/// A policy is validated once, when it is built, and cheap to clone (one reference count). Applied
/// to one identity it is a [`Budget`](crate::Budget).
///
/// Two policies with the same unit, scope, rule, length and stored form share their budgets, whatever
/// their names, limits and bursts. So a limit can be changed while processes run: it holds from the next
/// acquisition on, and while processes disagree a window admits at most the largest limit in use.
///
/// ```
/// use std::time::Duration;
/// use limiter_core::Policy;
///
/// // Five log-ins a minute, counted from the first one.
/// let policy = Policy::named("log-in")
///     .scope("POST /session")
///     .limit(5)
///     .first_arrival(Duration::from_secs(60))
///     .build()?;
/// assert_eq!(policy.limit().get(), 5);
/// # Ok::<(), limiter_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Policy(Arc<Inner>);

struct Inner {
    name: String,
    unit: String,
    scope: String,
    limit: Limit,
    rule: TimeRule,
    refundable: bool,
    key_space: KeySpace,
}

impl Policy {
    /// Starts a policy. The name is for people (logs, errors, answers); it is not part of a
    /// budget's key.
    pub fn named(name: impl Into<String>) -> PolicyBuilder {
        PolicyBuilder::new(name.into())
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What is counted; the meaning of every number of this policy.
    pub fn unit(&self) -> &str {
        &self.0.unit
    }

    /// Where it counts.
    pub fn scope(&self) -> &str {
        &self.0.scope
    }

    /// The most units that the time rule lets through.
    #[inline]
    pub fn limit(&self) -> Limit {
        self.0.limit
    }

    /// When credit comes back.
    #[inline]
    pub fn rule(&self) -> TimeRule {
        self.0.rule
    }

    /// What this policy's budgets have in common in their keys.
    pub fn key_space(&self) -> &KeySpace {
        &self.0.key_space
    }

    /// The largest cost that can ever be admitted: the limit, or the burst of a token bucket.
    #[inline]
    pub fn largest_cost(&self) -> Limit {
        self.0.rule.largest_cost(self.0.limit)
    }

    /// Whether units can be given back by receipt.
    #[inline]
    pub fn is_refundable(&self) -> bool {
        self.0.refundable
    }

    /// Whether an admission hands back a receipt: of refundable policies, and of every in-flight
    /// one, because that is how a lease is released and renewed.
    #[inline]
    pub fn gives_receipts(&self) -> bool {
        self.0.refundable || self.0.rule.kind() == RuleKind::InFlight
    }

    /// Whether an acquisition must bring a [`Nonce`](crate::Nonce): for refundable windows and for
    /// leases, which are told apart by it.
    pub fn needs_nonce(&self) -> bool {
        let kind = self.0.rule.kind();
        kind == RuleKind::InFlight || (self.0.refundable && kind.has_windows())
    }

    /// The same policy with another limit. Its budgets are the same ones.
    ///
    /// # Errors
    /// *Invalid* where the time rule cannot keep that limit: see the methods of
    /// [`PolicyBuilder`]. A token bucket's limit cannot be below its burst.
    pub fn with_limit(&self, limit: Limit) -> Result<Self, Error> {
        self.with(limit, self.0.rule)
    }

    fn with(&self, limit: Limit, rule: TimeRule) -> Result<Self, Error> {
        bounds::check(&rule, limit).map_err(|error| {
            Error::invalid(format!("policy {:?}: {}", self.0.name, error.message()))
        })?;
        Ok(Self(Arc::new(Inner {
            name: self.0.name.clone(),
            unit: self.0.unit.clone(),
            scope: self.0.scope.clone(),
            limit,
            rule,
            refundable: self.0.refundable,
            key_space: self.0.key_space.clone(),
        })))
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("name", &self.0.name)
            .field("unit", &self.0.unit)
            .field("scope", &self.0.scope)
            .field("limit", &self.0.limit)
            .field("rule", &self.0.rule)
            .field("refundable", &self.0.refundable)
            .finish()
    }
}

/// `log-in: 5 requests per 60s in POST /session`, and for in-flight
/// `jobs: 5 requests at once in service`.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            name,
            unit,
            scope,
            limit,
            rule,
            ..
        } = &*self.0;
        match rule {
            TimeRule::InFlight { .. } => write!(f, "{name}: {limit} {unit} at once in {scope}"),
            _ => write!(f, "{name}: {limit} {unit} per {} in {scope}", rule.length()),
        }
    }
}
