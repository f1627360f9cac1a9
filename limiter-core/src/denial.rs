//! What a denial says.

use std::time::Duration;

use smallvec::SmallVec;

use crate::{Acquire, Budget, Charge};

/// No charge was applied, because at least one budget denied its own.
#[derive(Clone, Debug)]
pub struct Denial {
    refusals: SmallVec<[Refusal; 1]>,
}

impl Denial {
    /// A denial by every budget in `refusals`, in the order of the charges.
    ///
    /// # Panics
    /// Where `refusals` is empty: a denial that no budget wanted is a defect of the store.
    pub fn new(refusals: impl IntoIterator<Item = Refusal>) -> Self {
        let refusals: SmallVec<[Refusal; 1]> = refusals.into_iter().collect();
        assert!(
            !refusals.is_empty(),
            "a denial names the budgets that denied"
        );
        Self { refusals }
    }

    /// The same denial, naming the budgets as `request` does.
    pub(crate) fn of(mut self, request: &Acquire) -> Self {
        for refusal in &mut self.refusals {
            let budgets = request.charges().iter().map(Charge::budget);
            let asked = budgets.into_iter().find(|asked| **asked == refusal.budget);
            if let Some(asked) = asked {
                refusal.budget = asked.clone();
            }
        }
        self
    }

    /// Every budget that denied, in the order of the charges.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }

    /// The longest wait of all budgets that denied: *never* if any is.
    pub fn wait(&self) -> Wait {
        let waits = self.refusals.iter().map(|refusal| refusal.wait);
        waits.max().unwrap_or(Wait::Never)
    }
}

/// Why one budget denied.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The budget that denied.
    pub budget: Budget,
    /// Units left, fewer than the cost.
    pub remaining: u64,
    /// How long until this cost can be admitted.
    pub wait: Wait,
}

/// How long until a denied cost can be admitted. It promises no capacity: others may come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    /// Asking again earlier than this is denied again, unless something is given back meanwhile.
    /// Whole milliseconds, at least 1.
    For(Duration),
    /// The cost is above the limit, or above the burst of a bucket: no wait will do.
    Never,
}

impl Wait {
    /// The wait, unless it is *never*.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::For(wait) => Some(wait),
            Self::Never => None,
        }
    }
}
