//! 128-bit keyed hashes.

use std::hash::{Hash, Hasher};

use siphasher::sip128::{Hasher128, SipHasher13};

/// Fixed, so that every run of every program sees the same hashes.
const KEY: (u64, u64) = (0x6c69_6d69_7465_722d, 0x7369_6d2d_6e6f_6465);

/// The 128-bit hash of anything hashable. Equal values have equal hashes; that different ones have
/// different hashes is true up to a collision of SipHash-1-3 at 128 bits.
pub(crate) fn fingerprint<T: Hash + ?Sized>(value: &T) -> u128 {
    let mut hasher = SipHasher13::new_with_keys(KEY.0, KEY.1);
    value.hash(&mut hasher);
    hasher.finish128().as_u128()
}

/// A running 128-bit hash, for callers that fold several parts together.
pub(crate) fn combine(parts: &[u128]) -> u128 {
    let mut hasher = SipHasher13::new_with_keys(KEY.0, KEY.1);
    for part in parts {
        hasher.write_u64(*part as u64);
        hasher.write_u64((*part >> 64) as u64);
    }
    hasher.finish128().as_u128()
}
