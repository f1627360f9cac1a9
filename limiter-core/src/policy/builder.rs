//! The one place where a policy's parts are checked.

use std::sync::Arc;
use std::time::Duration;

use super::{Inner, KeySpace, Length, Policy, TimeRule, bounds};
use crate::{Error, Limit};

/// The longest name, unit or scope, in bytes. A unit and a scope are part of every key.
const MAX_LABEL_BYTES: usize = 256;

/// Builds a [`Policy`]; [`build`](Self::build) checks every part and names what is wrong.
#[derive(Clone, Debug)]
pub struct PolicyBuilder {
    name: String,
    unit: String,
    scope: Option<String>,
    limit: Option<u64>,
    rule: Option<Rule>,
    refundable: bool,
}

/// A time rule as it was given, unchecked.
#[derive(Clone, Copy, Debug)]
enum Rule {
    FirstArrival(Duration),
    Aligned(Duration),
    Rolling(Duration),
    TokenBucket(Duration, u64),
    InFlight(Duration),
}

impl Rule {
    fn checked(self) -> Result<TimeRule, Error> {
        Ok(match self {
            Self::FirstArrival(length) => TimeRule::FirstArrival {
                length: Length::new(length)?,
            },
            Self::Aligned(length) => TimeRule::Aligned {
                length: Length::new(length)?,
            },
            Self::Rolling(length) => TimeRule::Rolling {
                length: Length::new(length)?,
            },
            Self::TokenBucket(length, burst) => TimeRule::TokenBucket {
                length: Length::new(length)?,
                burst: Limit::new(burst).map_err(|_| {
                    Error::invalid(format!(
                        "burst {burst} is out of bounds: allowed is 1 to the limit"
                    ))
                })?,
            },
            Self::InFlight(lease) => TimeRule::InFlight {
                lease: Length::new(lease)?,
            },
        })
    }
}

impl PolicyBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            unit: "requests".to_owned(),
            scope: None,
            limit: None,
            rule: None,
            refundable: false,
        }
    }

    /// What is counted: `requests` (the default), `bytes`, `tokens`, … 1 to 256 bytes.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Where it counts: one route, one region, the whole service. 1 to 256 bytes; required,
    /// because two policies that differ in nothing else share their budgets.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scope = Some(scope.into());
        self
    }

    /// The most units that the time rule lets through: 0 to 2^53 − 1. 0 denies all.
    #[must_use]
    pub fn limit(mut self, units: u64) -> Self {
        self.limit = Some(units);
        self
    }

    /// The window opens at the first admission and lasts `length`: 1 ms to 366 days, in whole
    /// milliseconds. With a limit of 5 and a length of one minute, five admissions at 12:00:30 fill
    /// the window until 12:01:30, and the sixth can come one millisecond later. It does not limit
    /// every interval of one minute: five at the end of one window and five at the start of the
    /// next can follow each other at once.
    #[must_use]
    pub fn first_arrival(mut self, length: Duration) -> Self {
        self.rule = Some(Rule::FirstArrival(length));
        self
    }

    /// Windows are cut at the multiples of `length` since the Unix epoch, in store time: 1 ms to
    /// 366 days, in whole milliseconds. With a limit of 5 and a length of one minute, the windows
    /// are the minutes of the clock, from :00.000 to :59.999.
    ///
    /// It does not limit every interval of one minute: around a boundary up to twice the limit can
    /// pass. Five admissions from 12:00:59.900 on and five more from 12:01:00.000 on are ten
    /// within 200 ms, and each is within its window's limit.
    #[must_use]
    pub fn aligned(mut self, length: Duration) -> Self {
        self.rule = Some(Rule::Aligned(length));
        self
    }

    /// At most the limit in *every* interval of `length`: 1 ms to 366 days, in whole milliseconds.
    /// With a limit of 5 and a length of one minute, a unit admitted at 12:00:30.000 counts until
    /// 12:01:30.000 and is free one millisecond later, whatever else was admitted when.
    ///
    /// It is exact, so it keeps one entry for every millisecond in which something was admitted:
    /// up to the limit or the length in milliseconds, whichever is less, and that may be at most
    /// 4,096. A limit of 10,000 per hour is refused: an aligned window or a token bucket keeps it
    /// in one number. It does not smooth: all five may pass in one millisecond.
    #[must_use]
    pub fn rolling(mut self, length: Duration) -> Self {
        self.rule = Some(Rule::Rolling(length));
        self
    }

    /// As many units as the limit come back evenly in each `length` (1 ms to 366 days, in whole
    /// milliseconds), and up to `burst` of them (1 to the limit) can be saved up.
    ///
    /// With a limit of 60, a length of one minute and a burst of 10, one unit comes back each
    /// second. A caller that was away for ten seconds or more may spend 10 at once, then one a
    /// second: in the first minute after a pause 10 + 60 = 70 pass, not 60. In every interval of
    /// length `d` at most `burst + limit · d / length` pass. A cost above the burst can never be
    /// admitted. For a burst above the limit at the same rate, multiply limit and length.
    #[must_use]
    pub fn token_bucket(mut self, length: Duration, burst: u64) -> Self {
        self.rule = Some(Rule::TokenBucket(length, burst));
        self
    }

    /// At most the limit (0 to 100,000) in leases at once; a lease is given back when it is
    /// released, or after `lease` (1 ms to 366 days, in whole milliseconds) unless it is renewed.
    ///
    /// With a limit of 5 and a lease of 30 seconds, the sixth job waits until one of five is done,
    /// or 30 seconds after one of their processes died. It limits neither a rate (a job of 1 ms can
    /// run a thousand times a second) nor what a job does after its lease ended: it does not
    /// promise that a job has stopped. One acquisition can ask for 1 to 1,024.
    #[must_use]
    pub fn in_flight(mut self, lease: Duration) -> Self {
        self.rule = Some(Rule::InFlight(lease));
        self
    }

    /// Admissions hand back receipts, with which units that turned out not to be needed can be
    /// given back. A refundable window is stored in another form, under another key, than one that
    /// is not; in-flight leases can always be given back.
    #[must_use]
    pub fn refundable(mut self) -> Self {
        self.refundable = true;
        self
    }

    /// Checks everything and builds the policy.
    ///
    /// # Errors
    /// *Invalid*, naming the policy, the part and what is allowed: a label that is empty or longer
    /// than 256 bytes, a limit, length or burst out of bounds or out of what the time rule can
    /// keep, a part that was not given.
    pub fn build(self) -> Result<Policy, Error> {
        let name = self.name.clone();
        self.checked()
            .map_err(|error| Error::invalid(format!("policy {name:?}: {}", error.message())))
    }

    fn checked(self) -> Result<Policy, Error> {
        check_label("name", &self.name)?;
        check_label("unit", &self.unit)?;
        let scope = self
            .scope
            .ok_or_else(|| missing("scope", "a label such as a route or \"service\""))?;
        check_label("scope", &scope)?;
        let limit = Limit::new(
            self.limit
                .ok_or_else(|| missing("limit", "0 to 2^53 - 1 units"))?,
        )?;
        let rule = self
            .rule
            .ok_or_else(|| missing("time rule", "one, such as first_arrival(length)"))?
            .checked()?;
        bounds::check(&rule, limit)?;
        Ok(Policy(Arc::new(Inner {
            key_space: KeySpace::new(&rule, self.refundable, &self.unit, &scope),
            refundable: self.refundable,
            name: self.name,
            unit: self.unit,
            scope,
            limit,
            rule,
        })))
    }
}

fn missing(part: &str, allowed: &str) -> Error {
    Error::invalid(format!("no {part} was given: allowed is {allowed}"))
}

fn check_label(part: &str, label: &str) -> Result<(), Error> {
    match label.len() {
        1..=MAX_LABEL_BYTES => Ok(()),
        bytes => Err(Error::invalid(format!(
            "{part} has {bytes} bytes: allowed is 1 to {MAX_LABEL_BYTES}"
        ))),
    }
}
