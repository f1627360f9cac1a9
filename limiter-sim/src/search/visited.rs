//! The states that were seen.

use std::collections::HashSet;

use crate::fingerprint::{AlreadyHashed, Digest};

/// A set of fingerprints: 17 bytes a state over a load of 7/16 to 7/8, so 20 to 39 bytes.
#[derive(Debug, Default)]
pub(crate) struct Visited(HashSet<u128, AlreadyHashed>);

impl Visited {
    /// Whether `state` is seen for the first time.
    pub(crate) fn insert(&mut self, state: Digest) -> bool {
        self.0.insert(state.0)
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }
}
