//! What a store says about itself.

use std::fmt;
use std::time::Duration;

use crate::{Error, Policy, RuleKind, RuleSet};

/// What a store guarantees beyond the contract, so that a caller can choose and a conformance test
/// knows what it may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether processes that use the same store share their budgets.
    pub shared: bool,
    /// Whose clock dates admissions and ends windows.
    pub clock: ClockOwner,
    /// Whether counts survive a restart of whatever holds them.
    pub survives_restart: Survival,
    /// Whether counts survive a failover of whatever holds them.
    pub survives_failover: Survival,
    /// The time rules that it keeps. An acquisition under another one is *invalid*.
    pub rules: RuleSet,
    /// The time rules of which it takes refunds, where the policy is refundable. Whoever keeps the
    /// in-flight rule takes releases and renewals of it, whatever is said here.
    pub refunds: RuleSet,
    /// Whether it remembers admissions under request ids.
    pub request_ids: bool,
    /// Whether an operator can reset a budget.
    pub resets: bool,
    /// The most charges that one acquisition can have: 1 to 16.
    pub max_charges: usize,
    /// Which budgets one acquisition can charge together. Others are *invalid*.
    pub together: Together,
    /// How long it may go on denying by what it remembers of a budget that others have refunded,
    /// reset, lost, or given a larger limit; `None` where it asks the budget every time. It never
    /// admits by what it remembers.
    pub stale_denials: Option<Duration>,
}

impl Capabilities {
    /// Of the simplest store in this process: nothing shared, nothing survives, first-arrival windows
    /// without refunds, one charge at a time.
    pub const fn in_process() -> Self {
        Self {
            shared: false,
            clock: ClockOwner::Process,
            survives_restart: Survival::No,
            survives_failover: Survival::No,
            rules: RuleSet::NONE.with(RuleKind::FirstArrival),
            refunds: RuleSet::NONE,
            request_ids: false,
            resets: false,
            max_charges: 1,
            together: Together::Any,
            stale_denials: None,
        }
    }

    /// Of the simplest store on a server that many processes share: first-arrival windows without
    /// refunds, one charge at a time. Whether counts survive is up to how that server is run.
    pub const fn on_server() -> Self {
        Self {
            shared: true,
            clock: ClockOwner::Server,
            survives_restart: Survival::AsConfigured,
            survives_failover: Survival::AsConfigured,
            ..Self::in_process()
        }
    }

    /// Whether budgets of `policy` can be kept.
    ///
    /// # Errors
    /// *Invalid* for a rule that is not kept, and for a refundable policy where its rule is not
    /// refunded. `store` names who does not.
    pub fn check(&self, policy: &Policy, store: &dyn fmt::Display) -> Result<(), Error> {
        let (rule, name) = (policy.rule().kind(), policy.name());
        if !self.rules.contains(rule) {
            return Err(Error::invalid(format!(
                "policy {name:?}: {store} does not keep the time rule {rule}"
            )));
        }
        if policy.is_refundable() && rule != RuleKind::InFlight && !self.refunds.contains(rule) {
            return Err(Error::invalid(format!(
                "policy {name:?}: {store} takes no refunds under the time rule {rule}"
            )));
        }
        Ok(())
    }
}

/// Whose clock dates admissions and ends windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockOwner {
    /// This process, through the [`Clock`](crate::Clock) that the store was given.
    Process,
    /// The server that holds the counts; clients' clocks play no part.
    Server,
}

/// Which budgets one acquisition can charge together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Together {
    /// Any.
    Any,
    /// Those of one identity, under whatever policies.
    OneIdentity,
    /// Those of one identity, and beside it those that everybody shares. These are charged beside an
    /// identity only, and each identity meets a part of their limit.
    BesideOneIdentity,
}

/// Whether counts survive an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Survival {
    /// They are lost.
    No,
    /// It depends on the server's persistence and replication, which the store cannot see.
    AsConfigured,
    /// They survive.
    Yes,
}
