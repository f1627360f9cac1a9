//! 128-bit keyed hashes: what tells one state from another.
//!
//! *Proved* means up to a collision of this hash. With 2^30 states the chance of one is below
//! 2^-68. A weak hash would cut the search in silence, so this one is SipHash-1-3 with a fixed key:
//! fixed, because every run must be repeatable.

use std::hash::{BuildHasher, Hash, Hasher};

use siphasher::sip128::{Hasher128, SipHasher13};

const KEY: (u64, u64) = (0x6275_6467_6574_2073, 0x6861_7265_6420_6279);

/// The fingerprint of a part of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Digest(pub(crate) u128);

impl Digest {
    pub(crate) fn of(value: &impl Hash) -> Self {
        let mut hasher = SipHasher13::new_with_keys(KEY.0, KEY.1);
        value.hash(&mut hasher);
        Self(hasher.finish128().as_u128())
    }

    /// Digests of interchangeable parts: their order does not matter, their number does.
    #[must_use]
    pub(crate) fn with(self, part: Self) -> Self {
        Self(self.0.wrapping_add(part.0))
    }

    /// Takes away what [`with`](Self::with) added.
    #[must_use]
    pub(crate) fn without(self, part: Self) -> Self {
        Self(self.0.wrapping_sub(part.0))
    }
}

/// Fixed-key hashing for look-up tables, whose order nothing may depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keyed;

impl BuildHasher for Keyed {
    type Hasher = siphasher::sip::SipHasher13;

    fn build_hasher(&self) -> Self::Hasher {
        siphasher::sip::SipHasher13::new_with_keys(KEY.0, KEY.1)
    }
}

/// The low half of a digest is as good as a hash of it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AlreadyHashed;

/// See [`AlreadyHashed`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LowHalf(u64);

impl BuildHasher for AlreadyHashed {
    type Hasher = LowHalf;

    fn build_hasher(&self) -> LowHalf {
        LowHalf(0)
    }
}

impl Hasher for LowHalf {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a digest is hashed as one u128");
    }

    #[allow(clippy::cast_possible_truncation)] // The low half is what is wanted.
    fn write_u128(&mut self, digest: u128) {
        self.0 = digest as u64;
    }
}
