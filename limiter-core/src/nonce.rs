//! Numbers used once, by which windows and leases are told apart.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sixteen bytes that nobody else uses. An admission that opens a refundable window gives the window
/// its identity by it, and one that takes leases names them by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce([u8; 16]);

impl Nonce {
    /// The nonce of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nonce({:032x})", u128::from_be_bytes(self.0))
    }
}

/// Where nonces come from. Stores take none by themselves: whoever makes a request brings one, so
/// that a test or the simulator can own the source.
///
/// Two that are equal break refunds: a receipt of one window could be credited to another.
pub trait Nonces: fmt::Debug + Send + Sync {
    /// A nonce that was never returned before, by this source or any other that meets the same
    /// store.
    fn next(&self) -> Nonce;
}

impl<N: Nonces + ?Sized> Nonces for Arc<N> {
    fn next(&self) -> Nonce {
        (**self).next()
    }
}

/// A prefix and a counter: the nonces of one process, or of one test.
///
/// Unique as long as the prefix is: 64 bits that no other source of the same store has.
#[derive(Debug)]
pub struct CountingNonces {
    prefix: u64,
    next: AtomicU64,
}

impl CountingNonces {
    /// Counts from 0 behind `prefix`.
    pub const fn new(prefix: u64) -> Self {
        Self {
            prefix,
            next: AtomicU64::new(0),
        }
    }

    /// Behind a prefix drawn at random, from where the standard library takes its hash keys. Two
    /// among a million processes share one with a probability of 3 in 10^8.
    pub fn random() -> Self {
        Self::new(RandomState::new().hash_one("limiter-core nonces"))
    }
}

impl Nonces for CountingNonces {
    fn next(&self) -> Nonce {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        Nonce((u128::from(self.prefix) << 64 | u128::from(count)).to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_nonce_comes_twice() {
        let (one, other) = (CountingNonces::new(1), CountingNonces::new(2));
        let all = [one.next(), one.next(), other.next(), other.next()];
        for (at, nonce) in all.iter().enumerate() {
            assert!(!all[..at].contains(nonce), "{nonce:?}");
        }
    }
}
