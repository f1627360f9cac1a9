//! Where a budget lies in Redis.

use std::num::NonZeroU16;
use std::sync::Arc;

use limiter_core::{Budget, Error, Identity, RequestId, Together};
use siphasher::sip::SipHasher24;

/// The prefix of every key unless another one is given.
pub const DEFAULT_PREFIX: &str = "limiter:";

/// Layout version and form of records, as budgets have theirs in front.
const RECORD: &[u8] = b"1:request:=";

/// How hash tags are given out: the part of a key in braces, which alone decides the slot that a
/// Redis Cluster keeps the key in. Only budgets in one slot can be charged together, and a request id
/// is remembered in the slot of its request. The same holds on a server without cluster, so that what
/// works on one works on the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HashTags {
    /// All budgets of one identity lie in one slot (the default): the tag is the hash of the
    /// identity. The budget that everybody shares is tagged by its scope, and is charged alone or
    /// with others that are shared in that scope.
    #[default]
    PerIdentity,
    /// Identities are spread over so many partitions, and all budgets of one partition lie in one
    /// slot. A budget that everybody shares has a part of its limit in each of them, and is charged
    /// together with a budget of an identity, in its partition.
    ///
    /// With 4 partitions and a service-wide limit of 10, the parts hold 3, 3, 2 and 2 units, so never
    /// more than 10 are admitted in all; but the third request of one partition is denied also while
    /// others have units left, and a cost of 4 always. `Partitions(1)` is exact, takes any budgets
    /// together, and keeps all of them on one shard: a cluster does not scale one exact budget.
    Partitions(NonZeroU16),
}

impl HashTags {
    /// Which budgets lie together in one slot, whatever they are called.
    pub(crate) fn together(self) -> Together {
        match self {
            Self::Partitions(NonZeroU16::MIN) => Together::Any,
            Self::Partitions(_) => Together::BesideOneIdentity,
            Self::PerIdentity => Together::OneIdentity,
        }
    }
}

/// What is in the braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Sixteen hexadecimal digits.
    Hash(u64),
    /// `p3/8`: so stores with other numbers of partitions share nothing.
    Partition { part: u16, of: u16 },
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

    pub(crate) fn tags(&self) -> HashTags {
        self.tags
    }

    /// The tag that a budget has by itself, where identities are told apart.
    pub(crate) fn own_tag(&self, budget: &Budget) -> Tag {
        Tag::Hash(hash(match budget.identity() {
            Some(identity) => identity.as_bytes(),
            None => budget.policy().scope().as_bytes(),
        }))
    }

    pub(crate) fn partition_of(&self, identity: &Identity, parts: NonZeroU16) -> u16 {
        let part = hash(identity.as_bytes()) % u64::from(parts.get());
        part as u16
    }

    /// The key in Redis under which `budget` is kept.
    pub(crate) fn key(&self, tag: Tag, budget: &Budget) -> Vec<u8> {
        self.tagged(tag, &[budget.key().as_bytes()])
    }

    /// The key in Redis of what is remembered under a request id.
    pub(crate) fn record_key(&self, tag: Tag, id: &RequestId) -> Vec<u8> {
        self.tagged(tag, &[RECORD, id.as_bytes()])
    }

    fn tagged(&self, tag: Tag, parts: &[&[u8]]) -> Vec<u8> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let mut bytes = Vec::with_capacity(self.prefix.len() + 18 + length);
        bytes.extend_from_slice(self.prefix.as_bytes());
        bytes.push(b'{');
        match tag {
            Tag::Hash(hash) => {
                bytes.extend((0..16).rev().map(|at| hex_digit(hash >> (4 * at))));
            }
            Tag::Partition { part, of } => {
                bytes.extend_from_slice(format!("p{part}/{of}").as_bytes());
            }
        }
        bytes.push(b'}');
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
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
        String::from_utf8(layout.key(layout.own_tag(budget), budget)).unwrap()
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
    fn a_partition_and_a_record_are_told_from_budgets_by_their_keys() {
        let layout = KeyLayout::default();
        let tag = Tag::Partition { part: 3, of: 8 };
        let key = layout.key(tag, &Budget::shared(&policy("s")));
        assert_eq!(key, b"limiter:{p3/8}1:first-arrival:1000:requests:s:*");
        let id = RequestId::new(b"a:b").unwrap();
        assert_eq!(layout.record_key(tag, &id), b"limiter:{p3/8}1:request:=a:b");
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
