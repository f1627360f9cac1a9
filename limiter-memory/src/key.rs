//! What a budget is called inside this store.
//!
//! A key is the number of its policy's key space and the bytes of its identity. Up to 15 bytes are
//! kept in the entry, where comparing them costs no second cache miss; longer ones are on the heap.
//! The two kinds live in two tables, because an entry that could hold either would be 40 bytes.

use std::hash::{BuildHasher, Hasher};

use crate::Hash;
use crate::PackedWindow;
use crate::decimal;

/// The longest identity that is kept inline, in bytes.
const INLINE_BYTES: usize = 15;
/// In place of a length: the budget has no identity.
const SHARED: u8 = u8::MAX;

/// A key that has not been stored: how to find an entry, and how to make one. It borrows, so that
/// a look-up allocates nothing.
pub(crate) trait Query: Copy {
    /// The same key as an entry holds it.
    type Stored: StoredKey;

    fn hash(self, hasher: &impl BuildHasher) -> Hash;
    fn matches(self, stored: &Self::Stored) -> bool;
    fn to_stored(self) -> Self::Stored;
}

/// A key as an entry holds it.
pub(crate) trait StoredKey: Eq + std::hash::Hash {
    /// Equal to the hash of the query that the key was made from.
    fn hash_by(&self, hasher: &impl BuildHasher) -> Hash;
}

/// The key of a shared budget, or of an identity of up to 15 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ShortKey {
    space: u32,
    /// The identity, zeros, and in the last byte its length or [`SHARED`].
    bytes: [u8; INLINE_BYTES + 1],
}

const _: () = assert!(size_of::<(ShortKey, PackedWindow)>() == 32);

impl ShortKey {
    #[inline]
    pub(crate) fn shared(space: u32) -> Self {
        let mut bytes = [0; INLINE_BYTES + 1];
        bytes[INLINE_BYTES] = SHARED;
        Self { space, bytes }
    }

    /// `None` where the identity is too long.
    #[inline]
    pub(crate) fn of(space: u32, identity: &[u8]) -> Option<Self> {
        Some(Self::packed(space, pack(identity)?, identity.len()))
    }

    /// The key of a number's decimal text; `None` where that is too long.
    #[inline]
    pub(crate) fn of_number(space: u32, number: u64) -> Option<Self> {
        let (text, length) = decimal::packed(number)?;
        let length = length as usize;
        (length <= INLINE_BYTES).then(|| Self::packed(space, text, length))
    }

    #[inline]
    fn packed(space: u32, text: u128, length: usize) -> Self {
        let packed = text | (length as u128) << (8 * INLINE_BYTES);
        let bytes = packed.to_le_bytes();
        Self { space, bytes }
    }
}

/// Up to 15 bytes as a little-endian number; `None` for more.
///
/// Two reads that may overlap give all bytes in registers. A copy byte by byte to memory would be
/// read back at once as one word, and a processor waits for that.
#[inline]
fn pack(identity: &[u8]) -> Option<u128> {
    let length = identity.len();
    match length {
        0..4 => Some(
            identity
                .iter()
                .rfold(0, |word, byte| word << 8 | u128::from(*byte)),
        ),
        4..8 => {
            let low = u32::from_le_bytes(*identity.first_chunk()?);
            let high = u32::from_le_bytes(*identity.last_chunk()?);
            Some(u128::from(
                u64::from(low) | u64::from(high) << (8 * (length - 4)),
            ))
        }
        8..=INLINE_BYTES => {
            let low = u64::from_le_bytes(*identity.first_chunk()?);
            let high = u64::from_le_bytes(*identity.last_chunk()?);
            Some(u128::from(low) | u128::from(high) << (8 * (length - 8)))
        }
        _ => None,
    }
}

impl StoredKey for ShortKey {
    fn hash_by(&self, hasher: &impl BuildHasher) -> Hash {
        let mut state = hasher.build_hasher();
        state.write_u128(u128::from_le_bytes(self.bytes));
        state.write_u32(self.space);
        Hash::new(state.finish())
    }
}

impl Query for ShortKey {
    type Stored = Self;

    fn hash(self, hasher: &impl BuildHasher) -> Hash {
        self.hash_by(hasher)
    }

    #[inline]
    fn matches(self, stored: &Self) -> bool {
        self == *stored
    }

    fn to_stored(self) -> Self {
        self
    }
}

const SPACE_BYTES: usize = size_of::<u32>();

/// The key of a longer identity: the key space's number in four bytes, then the identity. In one
/// allocation they leave the entry at 32 bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct LongKey(Box<[u8]>);

const _: () = assert!(size_of::<(LongKey, PackedWindow)>() <= 32);

/// A [`LongKey`] that borrows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LongQuery<'a> {
    space: u32,
    identity: &'a [u8],
}

impl<'a> LongQuery<'a> {
    pub(crate) fn new(space: u32, identity: &'a [u8]) -> Self {
        Self { space, identity }
    }
}

impl StoredKey for LongKey {
    fn hash_by(&self, hasher: &impl BuildHasher) -> Hash {
        hash_long(&self.0[SPACE_BYTES..], &self.0[..SPACE_BYTES], hasher)
    }
}

impl Query for LongQuery<'_> {
    type Stored = LongKey;

    fn hash(self, hasher: &impl BuildHasher) -> Hash {
        hash_long(self.identity, &self.space.to_le_bytes(), hasher)
    }

    #[inline]
    fn matches(self, stored: &LongKey) -> bool {
        let (space, identity) = stored.0.split_at(SPACE_BYTES);
        identity == self.identity && space == self.space.to_le_bytes()
    }

    fn to_stored(self) -> LongKey {
        LongKey([&self.space.to_le_bytes(), self.identity].concat().into())
    }
}

fn hash_long(identity: &[u8], space: &[u8], hasher: &impl BuildHasher) -> Hash {
    let mut state = hasher.build_hasher();
    state.write(identity);
    state.write(space);
    Hash::new(state.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_key_hashes_as_the_query_it_was_made_from() {
        let hasher = ahash::RandomState::with_seeds(1, 2, 3, 4);
        let long = LongQuery::new(7, b"an identity of more than 15 bytes");
        assert_eq!(long.hash(&hasher), long.to_stored().hash_by(&hasher));
        assert!(long.matches(&long.to_stored()));
        assert!(!LongQuery::new(8, long.identity).matches(&long.to_stored()));
    }

    #[test]
    fn a_short_key_holds_every_byte_of_the_identity() {
        let identity: [u8; INLINE_BYTES] = std::array::from_fn(|at| 0xf0 + at as u8);
        for length in 0..=INLINE_BYTES {
            let mut bytes = [0; INLINE_BYTES + 1];
            bytes[..length].copy_from_slice(&identity[..length]);
            bytes[INLINE_BYTES] = length as u8;
            let key = ShortKey::of(1, &identity[..length]).unwrap();
            assert_eq!(key.bytes, bytes);
        }
    }

    #[test]
    fn no_two_short_keys_meet() {
        let keys = [
            ShortKey::shared(1),
            ShortKey::shared(2),
            ShortKey::of(1, b"").unwrap(),
            ShortKey::of(1, b"\0").unwrap(),
            ShortKey::of(1, b"\0\0").unwrap(),
            ShortKey::of(1, &[0xff; 15]).unwrap(),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert!(keys[..at].iter().all(|other| other != key));
        }
        assert_eq!(ShortKey::of(1, &[0; 16]), None);
    }
}
