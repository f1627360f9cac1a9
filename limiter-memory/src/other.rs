//! Budgets of the rules that need more than a count and a deadline.

use limiter_core::rule::State;
use limiter_core::{Budget, Identity, Policy, Record, RequestId, Timestamp};

use crate::dated::{DatedShards, Deadline, Locked};

/// The key of such a budget: the number of its policy's key space, and its identity.
pub(crate) type OtherKey = (u32, Option<Identity>);
pub(crate) type Others = DatedShards<OtherKey, Other>;
pub(crate) type LockedOthers<'a> = Locked<'a, OtherKey, Other>;

/// What is remembered under request ids.
pub(crate) type Records = DatedShards<RequestId, Record>;
pub(crate) type LockedRecords<'a> = Locked<'a, RequestId, Record>;

pub(crate) fn key_of(budget: &Budget) -> OtherKey {
    let space = budget.policy().key_space().id();
    (space, budget.identity().cloned())
}

/// A stored state. It is taken out while it is charged, and put back under the same lock.
pub(crate) struct Other {
    state: Option<State>,
    deadline: Timestamp,
}

impl Other {
    pub(crate) fn new(state: State, policy: &Policy) -> Self {
        Self {
            deadline: state.deadline(policy),
            state: Some(state),
        }
    }

    pub(crate) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    pub(crate) fn state_mut(&mut self) -> Option<&mut State> {
        self.state.as_mut()
    }

    pub(crate) fn take(&mut self) -> Option<State> {
        self.state.take()
    }

    pub(crate) fn put(&mut self, state: State, policy: &Policy) {
        *self = Self::new(state, policy);
    }

    /// The state was changed in place.
    pub(crate) fn changed(&mut self, policy: &Policy) {
        if let Some(state) = &self.state {
            self.deadline = state.deadline(policy);
        }
    }
}

impl Deadline for Other {
    fn deadline(&self) -> Timestamp {
        self.deadline
    }
}

impl Deadline for Record {
    fn deadline(&self) -> Timestamp {
        Record::deadline(self)
    }
}
