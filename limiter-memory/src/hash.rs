//! The hash of a key: one part chooses the shard, the other the place in it.

/// 64 bits, as the hasher made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new(hash: u64) -> Self {
        Self(hash)
    }

    /// As dashmap takes it to choose a shard: by bits below the highest seven.
    #[cfg_attr(loom, allow(dead_code, reason = "loom's map has one shard"))]
    pub(crate) fn for_shard(self) -> usize {
        self.0 as usize
    }

    /// What is left of it once the shard is known.
    #[inline]
    pub(crate) fn in_shard(self) -> ShardHash {
        let tag = (self.0 >> TAG_SHIFT) as u32;
        ShardHash(tag << PLACE_BITS | (self.0 as u32 & PLACE_MASK))
    }
}

/// 32 bits of a hash: the low 25, by which a table chooses the place of an entry, and the high
/// seven, with which it tags that place.
///
/// The tables know no other hash, so an expiry record that keeps this finds the entry again without
/// its key. 25 bits choose well among 33 million places per shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardHash(pub(crate) u32);

const PLACE_BITS: u32 = 25;
const PLACE_MASK: u32 = (1 << PLACE_BITS) - 1;
const TAG_SHIFT: u32 = 64 - 7;

impl ShardHash {
    /// As the table takes it, with both parts where it looks for them.
    #[cfg_attr(loom, allow(dead_code, reason = "loom's map is a list"))]
    pub(crate) fn spread(self) -> u64 {
        let tag = u64::from(self.0 >> PLACE_BITS);
        tag << TAG_SHIFT | u64::from(self.0 & PLACE_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_and_the_tag_of_a_hash_are_kept() {
        for hash in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 1 << 57, 1 << 24] {
            let spread = Hash::new(hash).in_shard().spread();
            assert_eq!(spread >> TAG_SHIFT, hash >> TAG_SHIFT);
            assert_eq!(spread as u32, hash as u32 & PLACE_MASK);
        }
    }
}
