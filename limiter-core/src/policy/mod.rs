//! Unit, scope, limit and time rule, validated once.

mod builder;
mod key_space;
mod length;
mod time_rule;

use std::fmt;
use std::sync::Arc;

pub use builder::PolicyBuilder;
pub use key_space::KeySpace;
pub use length::Length;
pub use time_rule::TimeRule;

use crate::Limit;

/// What may be spent: a unit, a scope, a limit and a time rule, under a name.
///
/// A policy is validated once, when it is built, and cheap to clone (one reference count). Applied
/// to one identity it is a [`Budget`](crate::Budget).
///
/// Two policies with the same unit, scope, rule and length share their budgets, whatever their
/// names and limits. So a limit can be changed while processes run: it holds from the next
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

    /// The most units that one window admits.
    pub fn limit(&self) -> Limit {
        self.0.limit
    }

    /// When credit comes back.
    pub fn rule(&self) -> TimeRule {
        self.0.rule
    }

    /// What this policy's budgets have in common in their keys.
    pub fn key_space(&self) -> &KeySpace {
        &self.0.key_space
    }

    /// The same policy with another limit. Its budgets are the same ones.
    #[must_use]
    pub fn with_limit(&self, limit: Limit) -> Self {
        Self(Arc::new(Inner {
            name: self.0.name.clone(),
            unit: self.0.unit.clone(),
            scope: self.0.scope.clone(),
            limit,
            rule: self.0.rule,
            key_space: self.0.key_space.clone(),
        }))
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
            .finish()
    }
}

/// `log-in: 5 requests per 60s in POST /session`.
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
        write!(f, "{name}: {limit} {unit} per {} in {scope}", rule.length())
    }
}
