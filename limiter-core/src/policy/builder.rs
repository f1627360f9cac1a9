//! The one place where a policy's parts are checked.

use std::sync::Arc;
use std::time::Duration;

use super::{Inner, KeySpace, Length, Policy, TimeRule};
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
    length: Option<Duration>,
}

impl PolicyBuilder {
    pub(super) fn new(name: String) -> Self {
        Self {
            name,
            unit: "requests".to_owned(),
            scope: None,
            limit: None,
            length: None,
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

    /// The most units that one window admits: 0 to 2^53 − 1. 0 denies all.
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
        self.length = Some(length);
        self
    }

    /// Checks everything and builds the policy.
    ///
    /// # Errors
    /// *Invalid*, naming the policy, the part and what is allowed: a label that is empty or longer
    /// than 256 bytes, a limit or a length out of bounds, a part that was not given.
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
        let length = Length::new(
            self.length
                .ok_or_else(|| missing("time rule", "first_arrival(length)"))?,
        )?;
        let rule = TimeRule::FirstArrival { length };
        Ok(Policy(Arc::new(Inner {
            key_space: KeySpace::new(&rule, &self.unit, &scope),
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
