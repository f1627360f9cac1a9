//! One policy applied to one identity, and the key under which a store keeps it.

use std::fmt;

use crate::{Cost, Identity, Policy};

/// One policy applied to one identity, or to nobody in particular: then all callers share it.
///
/// ```
/// use std::time::Duration;
/// use limiter_core::{Budget, Policy};
///
/// let policy = Policy::named("uploads")
///     .unit("bytes")
///     .scope("service")
///     .limit(1 << 30)
///     .first_arrival(Duration::from_secs(3600))
///     .build()?;
/// let account = Budget::of(&policy, "account-17");
/// let service = Budget::shared(&policy);
/// assert_ne!(account.key(), service.key());
/// # Ok::<(), limiter_core::Error>(())
/// ```
///
/// Two budgets are equal where their keys are: limits and names do not count.
#[derive(Clone, Debug)]
pub struct Budget {
    policy: Policy,
    identity: Option<Identity>,
}

impl Budget {
    /// The budget of `identity` under `policy`.
    pub fn of(policy: &Policy, identity: impl Into<Identity>) -> Self {
        Self {
            policy: policy.clone(),
            identity: Some(identity.into()),
        }
    }

    /// The one budget of `policy` that everybody shares. It is not the budget of the empty
    /// identity.
    pub fn shared(policy: &Policy) -> Self {
        Self {
            policy: policy.clone(),
            identity: None,
        }
    }

    /// What may be spent.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Who is counted; `None` for the budget that everybody shares.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// The same identity under another policy.
    #[must_use]
    pub fn under(&self, policy: &Policy) -> Self {
        Self {
            policy: policy.clone(),
            identity: self.identity.clone(),
        }
    }

    /// The key under which a store keeps this budget.
    pub fn key(&self) -> BudgetKey {
        BudgetKey::new(self)
    }
}

impl PartialEq for Budget {
    fn eq(&self, other: &Self) -> bool {
        self.policy.key_space().id() == other.policy.key_space().id()
            && self.identity == other.identity
    }
}

impl Eq for Budget {}

/// Units asked of one budget.
#[derive(Clone, Debug)]
pub struct Charge {
    budget: Budget,
    cost: Cost,
}

impl Charge {
    /// Asks `budget` for `cost` units.
    pub fn new(budget: Budget, cost: Cost) -> Self {
        Self { budget, cost }
    }

    /// Whose units.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// How many units.
    pub fn cost(&self) -> Cost {
        self.cost
    }
}

/// The canonical, injective name of a budget: layout version, rule and stored form, length, unit, scope,
/// identity. Limit and policy name are not part of it.
///
/// `1:first-arrival:60000:requests:POST%20/session:=alice`: every part before the identity is
/// escaped, so its separators are unambiguous; the identity comes last, raw, after `=`, so any byte
/// is allowed in it. The budget without identity ends in `*` instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BudgetKey(Box<[u8]>);

impl BudgetKey {
    fn new(budget: &Budget) -> Self {
        let prefix = budget.policy.key_space().prefix().as_bytes();
        let key = match &budget.identity {
            Some(identity) => [prefix, b"=", identity.as_bytes()].concat(),
            None => [prefix, b"*"].concat(),
        };
        Self(key.into_boxed_slice())
    }

    /// The encoded bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The identity is left out: it does not belong in logs.
impl fmt::Debug for BudgetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colons = self.0.iter().enumerate().filter(|(_, b)| **b == b':');
        let end = colons.map(|(at, _)| at).nth(4).unwrap_or(self.0.len());
        let prefix = String::from_utf8_lossy(&self.0[..end]);
        write!(f, "BudgetKey({prefix}, {} bytes)", self.0.len())
    }
}
