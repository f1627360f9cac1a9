//! Records as bytes, for stores that keep bytes.

use std::time::Duration;

use super::{Record, Recorded};
use crate::bytes::Reader;
use crate::{Acquire, Error, RequestDigest};

/// The version of this layout: the first byte.
const VERSION: u8 = 1;

const WITHOUT_RECEIPT: u8 = 0;
const WITH_RECEIPT: u8 = 1;
const REFUNDED: u8 = 2;

impl Record {
    /// The record in bytes: 33, and 41 for each charge without a receipt, 65 for each with one.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        out.extend(self.digest.as_bytes());
        out.extend(self.deadline.as_millis().to_le_bytes());
        out.extend((self.charges.len() as u64).to_le_bytes());
        for charge in &self.charges {
            out.push(match charge.receipt {
                None => WITHOUT_RECEIPT,
                Some(_) if charge.is_refunded => REFUNDED,
                Some(_) => WITH_RECEIPT,
            });
            out.extend(charge.digest.as_bytes());
            out.extend(charge.total.to_le_bytes());
            out.extend(charge.remaining.to_le_bytes());
            let resets_in_ms = u64::try_from(charge.resets_in.as_millis()).unwrap_or(u64::MAX);
            out.extend(resets_in_ms.to_le_bytes());
            if let Some((window, serial)) = charge.receipt {
                out.extend(window.0);
                out.extend(serial.to_le_bytes());
            }
        }
        out
    }

    /// Reads a record back.
    ///
    /// # Errors
    /// *Corrupt* for anything that [`to_bytes`](Self::to_bytes) does not write.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let corrupt = || Error::corrupt("what is stored under a request id is no record");
        match bytes {
            [VERSION, rest @ ..] => parse(Reader(rest)).ok_or_else(corrupt),
            _ => Err(corrupt()),
        }
    }
}

fn parse(mut bytes: Reader<'_>) -> Option<Record> {
    let digest = RequestDigest::from_bytes(bytes.array()?);
    let deadline = bytes.instant()?;
    let charges = bytes.list(Acquire::MAX_CHARGES, charge)?;
    (bytes.0.is_empty() && !charges.is_empty()).then(|| Record {
        digest,
        deadline,
        charges: charges.into(),
    })
}

fn charge(bytes: &mut Reader<'_>) -> Option<Recorded> {
    let [form] = bytes.array()?;
    Some(Recorded {
        digest: RequestDigest::from_bytes(bytes.array()?),
        total: bytes.units()?,
        remaining: bytes.units()?,
        resets_in: Duration::from_millis(bytes.number()?),
        receipt: match form {
            WITHOUT_RECEIPT => None,
            WITH_RECEIPT | REFUNDED => Some((bytes.identity()?, bytes.units()?)),
            _ => return None,
        },
        is_refunded: form == REFUNDED,
    })
}
