//! States as bytes, for stores that keep bytes.
//!
//! The first byte is the version of this layout, the second the form; then numbers of eight bytes
//! and identities of sixteen, little end first; a list begins with its number of entries. Parsing is strict: what this module did not write is
//! corrupt, and never taken for a smaller or an empty state.

use std::collections::VecDeque;

use crate::bytes::Reader;
use crate::policy::bounds::{MAX_IN_FLIGHT_COST, MAX_IN_FLIGHT_LIMIT, MAX_ROLLING_ENTRIES};
use crate::{Budget, Error, MAX_UNITS, Refunded};

use super::State;
use super::bucket::Bucket;
use super::first_arrival::Window;
use super::in_flight::{Lease, Leases};
use super::refundable::RefundableWindow;
use super::rolling::{Entry, Rolling};

const VERSION: u8 = 1;

const WINDOW: u8 = 1;
const REFUNDABLE: u8 = 2;
const ROLLING: u8 = 3;
const BUCKET: u8 = 4;
const LEASES: u8 = 5;

impl State {
    /// The state in bytes: 18 for a window and 26 for a bucket; 10 and 16 for each entry of a rolling
    /// window, or 32 for each lease; 50 for a refundable window and 8 for each refund.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        let put = |out: &mut Vec<u8>, number: u64| out.extend(number.to_le_bytes());
        match self {
            Self::Window(window) => {
                out.push(WINDOW);
                put(&mut out, window.total);
                put(&mut out, window.deadline.as_millis());
            }
            Self::Refundable(window) => {
                out.push(REFUNDABLE);
                put(&mut out, window.charged);
                put(&mut out, window.refunded);
                put(&mut out, window.deadline.as_millis());
                out.extend(window.identity.0);
                put(&mut out, window.serials.len() as u64);
                window
                    .serials
                    .iter()
                    .for_each(|serial| put(&mut out, *serial));
            }
            Self::Rolling(rolling) => {
                out.push(ROLLING);
                put(&mut out, rolling.entries.len() as u64);
                for entry in rolling.entries() {
                    put(&mut out, entry.at.as_millis());
                    put(&mut out, entry.units);
                }
            }
            Self::Bucket(bucket) => {
                out.push(BUCKET);
                put(&mut out, bucket.used);
                put(&mut out, bucket.fraction);
                put(&mut out, bucket.at.as_millis());
            }
            Self::Leases(leases) => {
                out.push(LEASES);
                put(&mut out, leases.leases.len() as u64);
                for lease in leases.leases() {
                    out.extend(lease.identity.0);
                    put(&mut out, lease.permits);
                    put(&mut out, lease.end.as_millis());
                }
            }
        }
        out
    }

    /// Reads a state of `budget` back.
    ///
    /// # Errors
    /// *Corrupt*, naming the budget without its identity, for anything that
    /// [`to_bytes`](Self::to_bytes) does not write for a budget of this rule.
    pub fn from_bytes(bytes: &[u8], budget: &Budget) -> Result<Self, Error> {
        let state = match bytes {
            [VERSION, form, rest @ ..] => parse(*form, Reader(rest)),
            [_, ..] => return Err(corrupt(budget, "it is of another version")),
            [] => return Err(corrupt(budget, "it is empty")),
        };
        let length_ms = budget.policy().rule().length().as_millis();
        state
            .filter(|state| state.fits(budget.policy()))
            .filter(|state| !matches!(state, Self::Bucket(bucket) if bucket.fraction >= length_ms))
            .ok_or_else(|| corrupt(budget, "it is not a state of this rule"))
    }
}

/// The error for state of `budget` that no rule wrote. Names the budget by its key without the
/// identity, which does not belong in logs.
pub(super) fn corrupt(budget: &Budget, what: &str) -> Error {
    Error::corrupt(format!(
        "what is stored for policy {:?} under {:?} was not written by this store: {what}",
        budget.policy().name(),
        budget.key(),
    ))
}

fn parse(form: u8, mut bytes: Reader<'_>) -> Option<State> {
    let state = match form {
        WINDOW => State::Window(Window {
            total: bytes.units().filter(|total| *total > 0)?,
            deadline: bytes.instant()?,
        }),
        REFUNDABLE => State::Refundable(refundable(&mut bytes)?),
        ROLLING => State::Rolling(rolling(&mut bytes)?),
        BUCKET => State::Bucket(Bucket {
            used: bytes.units()?,
            fraction: bytes.number()?,
            at: bytes.instant()?,
        }),
        LEASES => State::Leases(leases(&mut bytes)?),
        _ => return None,
    };
    bytes.0.is_empty().then_some(state)
}

fn refundable(bytes: &mut Reader<'_>) -> Option<RefundableWindow> {
    let window = RefundableWindow {
        charged: bytes.units()?,
        refunded: bytes.units()?,
        deadline: bytes.instant()?,
        identity: bytes.identity()?,
        serials: bytes.list(Refunded::MAX_PER_WINDOW, Reader::units)?,
    };
    let ascending = window.serials.is_sorted_by(|one, next| one < next);
    let last = window.serials.last().copied().unwrap_or(0);
    let counts = 0 < window.charged && window.refunded <= window.charged && last <= window.charged;
    (ascending && counts && !window.serials.contains(&0)).then_some(window)
}

fn rolling(bytes: &mut Reader<'_>) -> Option<Rolling> {
    let most = MAX_ROLLING_ENTRIES as usize + 1;
    let entries = bytes.list(most, |bytes| {
        Some(Entry {
            at: bytes.instant()?,
            units: bytes.units()?,
        })
    })?;
    let (last, others) = entries.split_last()?;
    let ascending = entries.is_sorted_by(|one, next| one.at < next.at);
    let spent = others.iter().all(|entry| entry.units > 0);
    let sum = others.iter().try_fold(last.units, |sum, entry| {
        Some(sum + entry.units).filter(|sum| *sum <= MAX_UNITS)
    });
    (ascending && spent && sum.is_some()).then(|| Rolling {
        entries: VecDeque::from(entries),
    })
}

fn leases(bytes: &mut Reader<'_>) -> Option<Leases> {
    let leases = bytes.list(MAX_IN_FLIGHT_LIMIT as usize, |bytes| {
        Some(Lease {
            identity: bytes.identity()?,
            permits: bytes
                .number()
                .filter(|n| (1..=MAX_IN_FLIGHT_COST).contains(n))?,
            end: bytes.instant()?,
        })
    })?;
    let ascending = leases.is_sorted_by(|one, next| one.end <= next.end);
    ascending.then_some(Leases { leases })
}
