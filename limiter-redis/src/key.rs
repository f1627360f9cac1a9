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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use limiter_core::{ErrorKind, Identity, Policy};

    use super::*;

    fn policy(scope: &str) -> Policy {
        Policy::named("p")
            .scope(scope)
            .limit(1)
            .first_arrival(Duration::from_secs(1))
            .build()
            .unwrap()
    }

    fn text(layout: &KeyLayout, budget: &Budget) -> String {
        String::from_utf8(layout.key(budget)).unwrap()
    }

    #[test]
    fn the_hash_is_siphash_2_4_with_a_zero_key() {
        assert_eq!(hash(b""), 0x1e92_4b9d_7377_00d7);
    }

    #[test]
    fn a_key_is_prefix_tag_and_the_key_of_the_budget() {
        let budget = Budget::of(&policy("service"), "");
        assert_eq!(
            text(&KeyLayout::default(), &budget),
            "limiter:{1e924b9d737700d7}1:first-arrival:1000:requests:service:="
        );
    }

    #[test]
    fn budgets_of_one_identity_share_their_tag_and_the_shared_budget_has_that_of_its_scope() {
        let layout = KeyLayout::default();
        let tag = |budget: &Budget| text(&layout, budget)["limiter:".len()..][..18].to_owned();
        let alice = tag(&Budget::of(&policy("a"), "alice"));
        assert_eq!(alice, tag(&Budget::of(&policy("b"), "alice")));
        assert_ne!(alice, tag(&Budget::of(&policy("a"), "bob")));
        let shared = tag(&Budget::shared(&policy("alice")));
        assert_eq!(shared, alice);
        assert_ne!(shared, tag(&Budget::shared(&policy("b"))));
    }

    #[test]
    fn the_first_braces_of_a_key_are_always_those_of_the_tag() {
        for identity in ["}{", "{}", "{tag}", "{"].map(Identity::from) {
            let key = text(&KeyLayout::default(), &Budget::of(&policy("{s}"), identity));
            assert_eq!(key.find('{'), Some(8));
            assert_eq!(key.find('}'), Some(8 + 17));
        }
    }

    #[test]
    fn braces_in_a_prefix_are_refused() {
        for prefix in ["{", "}", "a{b}c"] {
            let refused = KeyLayout::default().with_prefix(prefix).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Invalid);
            assert!(refused.message().contains("allowed is"), "{refused}");
        }
        let layout = KeyLayout::default().with_prefix("").unwrap();
        assert!(text(&layout, &Budget::of(&policy("s"), "x")).starts_with('{'));
    }
}
