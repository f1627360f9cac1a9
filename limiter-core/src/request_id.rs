//! The name of one request, by which a repeat is recognised.

use std::fmt;
use std::hash::Hasher;
use std::time::Duration;

use siphasher::sip128::{Hasher128, SipHasher24};
use smallvec::SmallVec;

use crate::{Budget, Charge, Cost, Error, Length};

/// The caller's name for one acquisition: 1 to 64 bytes, unique among the caller's requests.
///
/// A repeat with the same id, within the life of its record, gets the first admission again and
/// charges nothing. So after *uncertain* the same request may be sent again.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(SmallVec<[u8; 16]>);

impl RequestId {
    /// The longest id, in bytes.
    pub const MAX_BYTES: usize = 64;
    /// How long an admission is remembered unless another life is stated.
    pub const DEFAULT_LIFE: Duration = Duration::from_millis(Length::FIVE_MINUTES.as_millis());

    /// Checks the bounds.
    ///
    /// # Errors
    /// *Invalid* for no bytes and for more than 64.
    pub fn new(bytes: impl AsRef<[u8]>) -> Result<Self, Error> {
        let bytes = bytes.as_ref();
        match bytes.len() {
            1..=Self::MAX_BYTES => Ok(Self(SmallVec::from_slice(bytes))),
            length => Err(Error::invalid(format!(
                "a request id of {length} bytes: allowed is 1 to {}",
                Self::MAX_BYTES
            ))),
        }
    }

    /// The bytes as they were given.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Its length only: ids are the caller's, and may say whose request it is.
impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({} bytes)", self.0.len())
    }
}

/// A request id and how long an admission under it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    pub(crate) id: RequestId,
    pub(crate) life: Length,
}

impl Remembered {
    /// The id.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// How long the record of an admission lives.
    pub fn life(&self) -> Length {
        self.life
    }
}

/// What a request asked for, in sixteen bytes: SipHash-2-4-128 with a zero key over the keys and
/// costs of its charges, in order. Limits are not part of it, as they are not of a key.
///
/// It is the same in every process and version of one key layout. It tells mistakes apart; it is no
/// protection against a caller who looks for two requests that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestDigest([u8; 16]);

impl RequestDigest {
    pub(crate) fn of(charges: &[Charge]) -> Self {
        let mut hasher = SipHasher24::new();
        for charge in charges {
            write(&mut hasher, charge.budget(), charge.cost());
        }
        Self::finish(&hasher)
    }

    pub(crate) fn of_one(budget: &Budget, cost: Cost) -> Self {
        let mut hasher = SipHasher24::new();
        write(&mut hasher, budget, cost);
        Self::finish(&hasher)
    }

    /// Of any text: names of a conformance test's own requests.
    #[cfg(feature = "conformance")]
    pub(crate) fn of_text(text: &str) -> Self {
        let mut hasher = SipHasher24::new();
        hasher.write(text.as_bytes());
        Self::finish(&hasher)
    }

    fn finish(hasher: &SipHasher24) -> Self {
        let hash = hasher.finish128();
        Self((u128::from(hash.h1) << 64 | u128::from(hash.h2)).to_be_bytes())
    }

    /// The digest of these bytes, as a store kept them.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

fn write(hasher: &mut SipHasher24, budget: &Budget, cost: Cost) {
    let key = budget.key();
    hasher.write(&(key.as_bytes().len() as u64).to_le_bytes());
    hasher.write(key.as_bytes());
    hasher.write(&cost.get().to_le_bytes());
}
