//! A stated part of a limit.

use super::{Policy, TimeRule};
use crate::{Error, Limit};

/// One of `of` equal parts of a limit; what does not divide evenly is assigned, one unit each, to
/// the first parts.
///
/// So the parts of a limit add up to exactly the limit: 10 units in 4 parts are 3, 3, 2 and 2. A
/// part can be 0, and then denies all.
///
/// ```
/// use limiter_core::{Limit, Share};
///
/// let ten = Limit::new(10)?;
/// let parts: Vec<u64> = (0..4).map(|part| Share::new(part, 4).unwrap().of(ten).get()).collect();
/// assert_eq!(parts, [3, 3, 2, 2]);
/// # Ok::<(), limiter_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    part: u64,
    parts: u64,
}

impl Share {
    /// Part number `part`, from 0, of `parts`.
    ///
    /// # Errors
    /// *Invalid* where there is no such part.
    pub fn new(part: u64, parts: u64) -> Result<Self, Error> {
        if part >= parts {
            return Err(Error::invalid(format!(
                "part {part} of {parts}: allowed is 0 to the number of parts - 1"
            )));
        }
        Ok(Self { part, parts })
    }

    /// Which part, from 0.
    pub const fn part(self) -> u64 {
        self.part
    }

    /// How many parts there are.
    pub const fn parts(self) -> u64 {
        self.parts
    }

    /// This part of `whole`.
    pub fn of(self, whole: Limit) -> Limit {
        let remainder = whole.get() % self.parts;
        let units = whole.get() / self.parts + u64::from(self.part < remainder);
        whole.part(units)
    }

    /// `policy` with this part of its limit and of its burst. Its budgets have the same keys.
    ///
    /// # Errors
    /// *Invalid* where a token bucket's burst leaves nothing for this part but its limit does: such
    /// a part could never spend what comes back to it.
    pub fn of_policy(self, policy: &Policy) -> Result<Policy, Error> {
        let rule = match policy.rule() {
            TimeRule::TokenBucket { length, burst } => TimeRule::TokenBucket {
                length,
                burst: self.of(burst),
            },
            rule => rule,
        };
        policy.with(self.of(policy.limit()), rule)
    }
}

impl Policy {
    /// This policy with at most `limit`, and a burst that is no larger.
    pub(crate) fn at_most(&self, limit: Limit) -> Self {
        let limit = limit.min(self.limit());
        let rule = match self.rule() {
            TimeRule::TokenBucket { length, burst } => TimeRule::TokenBucket {
                length,
                burst: burst.min(limit),
            },
            rule => rule,
        };
        self.with(limit, rule)
            .expect("what a rule can keep, it can keep with less")
    }
}
