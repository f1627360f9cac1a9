//! Proof of one charge.

use crate::{Budget, Cost};

/// What tells one window from the next on the same key. Opaque bytes, chosen by the store.
///
/// Its end in store time would not be enough: two windows can end in the same millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowIdentity(pub [u8; 16]);

/// What an admission hands back for each charge that may be refunded: the budget, the identity of
/// the window that was charged, and the cost.
///
/// It is not `Clone`: one charge can be given back once.
#[derive(Debug, PartialEq, Eq)]
pub struct Receipt {
    key: crate::BudgetKey,
    window: WindowIdentity,
    cost: Cost,
}

impl Receipt {
    /// For stores: the receipt of a charge that was applied.
    pub fn new(budget: &Budget, window: WindowIdentity, cost: Cost) -> Self {
        Self {
            key: budget.key(),
            window,
            cost,
        }
    }

    /// The budget that was charged.
    pub fn key(&self) -> &crate::BudgetKey {
        &self.key
    }

    /// The window that was charged.
    pub fn window(&self) -> WindowIdentity {
        self.window
    }

    /// The units that were charged.
    pub fn cost(&self) -> Cost {
        self.cost
    }
}
