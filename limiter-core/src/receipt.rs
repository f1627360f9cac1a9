//! Proof of one charge, and what giving it back is answered with.

use std::time::Duration;

use crate::{Authority, Budget, BudgetKey, Cost, Nonce, RequestId, Timestamp};

/// What tells one window from the next on the same key. Opaque bytes, chosen by the store.
///
/// Its end in store time would not be enough: two windows can end in the same millisecond. So a
/// window's and a lease's identity is a [`Nonce`]; that of an admission to a rolling window is its
/// instant, and that of a charge to a bucket the instant at which the bucket would have been full
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowIdentity(pub [u8; 16]);

impl WindowIdentity {
    /// The identity that is an instant.
    pub const fn at(instant: Timestamp) -> Self {
        Self((instant.as_millis() as u128).to_be_bytes())
    }

    /// The instant that it is; `None` where it is none.
    pub fn instant(self) -> Option<Timestamp> {
        let ms = u64::try_from(u128::from_be_bytes(self.0)).ok()?;
        Some(Timestamp::from_millis(ms))
    }
}

impl From<Nonce> for WindowIdentity {
    fn from(nonce: Nonce) -> Self {
        Self(*nonce.as_bytes())
    }
}

/// What an admission hands back for each charge that can be given back: the budget, the identity of
/// the window that was charged, the cost, and the running total after it.
///
/// It is not `Clone`, and a refund consumes it: one charge can be given back once. Dropping it
/// gives nothing back.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is never refunded is spent"]
pub struct Receipt {
    budget: Budget,
    window: WindowIdentity,
    serial: u64,
    cost: Cost,
    credit: Cost,
    authority: Authority,
    request: Option<RequestId>,
}

impl Receipt {
    /// For stores: the receipt of a charge that was applied. `serial` is the running total of the
    /// window after this charge, by which it is told from the others; 0 where the rule has no
    /// running total.
    pub fn new(budget: &Budget, window: WindowIdentity, serial: u64, cost: Cost) -> Self {
        Self {
            budget: budget.clone(),
            window,
            serial,
            cost,
            credit: cost,
            authority: Authority::Store,
            request: None,
        }
    }

    /// For stores: the same receipt, of an admission that is remembered under `id`.
    pub fn of_request(mut self, id: &RequestId) -> Self {
        self.request = Some(id.clone());
        self
    }

    pub(crate) fn by(mut self, authority: Authority) -> Self {
        self.authority = authority;
        self
    }

    /// Settles: `used` units of the charge were needed after all, and a refund gives back only the
    /// rest. `None` where there is no rest.
    ///
    /// What costs more than was reserved is a further acquisition, which can be denied. A lease is
    /// given back whole, whatever is said here.
    ///
    /// ```
    /// # use limiter_core::{BudgetStore, Error, Receipt};
    /// # async fn settle(store: &dyn BudgetStore, receipt: Receipt) -> Result<(), Error> {
    /// // 4,000 tokens were reserved, 1,250 were used: 2,750 come back.
    /// if let Some(rest) = receipt.settle(1250) {
    ///     let _ = store.refund(rest).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle(self, used: u64) -> Option<Self> {
        let rest = self.cost.get().checked_sub(used)?;
        let credit = Cost::new(rest).ok()?;
        Some(Self { credit, ..self })
    }

    /// The budget that was charged, with the policy under which it was.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The key of the budget that was charged.
    pub fn key(&self) -> BudgetKey {
        self.budget.key()
    }

    /// The window that was charged.
    pub fn window(&self) -> WindowIdentity {
        self.window
    }

    /// The running total of the window after the charge; 0 where the rule has none.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The units that were charged.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The units that a refund gives back: the cost, unless it was [settled](Self::settle).
    pub fn credit(&self) -> Cost {
        self.credit
    }

    /// Who was charged: the store, or a fallback.
    pub fn authority(&self) -> Authority {
        self.authority
    }

    /// The request under whose id the admission is remembered.
    pub fn request(&self) -> Option<&RequestId> {
        self.request.as_ref()
    }
}

/// The answer to a refund. Only the first of them changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "a refund can come to nothing"]
pub enum Refunded {
    /// Units were given back.
    Credited {
        /// How many: the receipt's credit, or less where a bucket had refilled part of it already.
        units: u64,
    },
    /// The window is over, the units have come back by themselves, or the lease has ended or was
    /// released before.
    Late,
    /// This charge was given back before.
    Repeated,
    /// The window has seen as many refunds as it can remember, 1,024: nothing was given back.
    Refused,
}

impl Refunded {
    /// The most refunds of one window: each is remembered until the window ends, so their number
    /// must be bounded.
    pub const MAX_PER_WINDOW: usize = 1024;

    /// Units that were given back.
    pub const fn units(self) -> u64 {
        match self {
            Self::Credited { units } => units,
            Self::Late | Self::Repeated | Self::Refused => 0,
        }
    }
}

/// The answer to a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use = "a lease that was lost may already be somebody else's"]
pub enum Renewed {
    /// The lease now ends later, or as late as it did.
    Extended {
        /// How long until the lease is over, in whole milliseconds; at least 1.
        ends_in: Duration,
    },
    /// The lease had ended or was released. Nothing changed.
    Lost,
}
