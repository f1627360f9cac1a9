//! Where a budget lies in Redis.

use std::sync::Arc;

use limiter_core::{Budget, Error};
use siphasher::sip::SipHasher24;

/// The prefix of every key unless another one is given.
pub const DEFAULT_PREFIX: &str = "limiter:";

/// How hash tags are given out: the part of a key in braces, which alone decides the slot that a
/// Redis Cluster keeps the key in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashTags {
    /// All budgets of one identity lie in one slot (the default): the tag is the hash of the
    /// identity. The budget that everybody shares is tagged by its scope.
    #[default]
    PerIdentity,
}

impl HashTags {
    /// What the tag is the hash of.
    fn tagged(self, budget: &Budget) -> &[u8] {
        match self {
            Self::PerIdentity => match budget.identity() {
                Some(identity) => identity.as_bytes(),
                None => budget.policy().scope().as_bytes(),
            },
        }
    }
}

/// The layout of keys: `prefix{tag}key`.
#[derive(Clone, Debug)]
pub(crate) struct KeyLayout {
    prefix: Arc<str>,
    tags: HashTags,
}

impl Default for KeyLayout {
    fn default() -> Self {
        Self {
            prefix: Arc::from(DEFAULT_PREFIX),
            tags: HashTags::default(),
        }
    }
}

impl KeyLayout {
    pub(crate) fn with_prefix(self, prefix: &str) -> Result<Self, Error> {
        if prefix.contains(['{', '}']) {
            return Err(Error::invalid(format!(
                "key prefix {prefix:?} holds a brace: allowed is any text without {{ and }}, \
                 because the first brace would mark the hash tag"
            )));
        }
        let prefix = Arc::from(prefix);
        Ok(Self { prefix, ..self })
    }

    pub(crate) fn with_tags(self, tags: HashTags) -> Self {
        Self { tags, ..self }
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The key in Redis under which `budget` is kept.
    pub(crate) fn key(&self, budget: &Budget) -> Vec<u8> {
        let tag = hash(self.tags.tagged(budget));
        let key = budget.key();
        let mut bytes = Vec::with_capacity(self.prefix.len() + 18 + key.as_bytes().len());
        bytes.extend_from_slice(self.prefix.as_bytes());
        bytes.push(b'{');
        bytes.extend((0..16).rev().map(|at| hex_digit(tag >> (4 * at))));
        bytes.push(b'}');
        bytes.extend_from_slice(key.as_bytes());
        bytes
    }
}

/// SipHash-2-4 with an all-zero key: published, with test vectors, and the same in every process,
/// version and language. It spreads keys over slots and protects nothing.
fn hash(bytes: &[u8]) -> u64 {
    SipHasher24::new().hash(bytes)
}

fn hex_digit(number: u64) -> u8 {
    b"0123456789abcdef"[(number & 0xf) as usize]
}
