//! A deterministic stand-in for the allocator, and what happens at the memory limit.
//!
//! Used memory is 1 MiB for the process, plus per key 64 bytes and the bytes of its name, plus the bytes of
//! its value and 16 bytes per element. Real servers differ by allocator and encoding; only "below the
//! limit" and "above it" have meaning here.

use super::node::{Node, Role};
use super::value::Value;
use super::{Bytes, EvictionPolicy};

const PROCESS: u64 = 1 << 20;
const PER_KEY: u64 = 64;
const PER_ELEMENT: u64 = 16;

impl Node {
    /// The modelled memory in use, in bytes (see the module's source for the rule).
    #[must_use]
    pub fn used_memory(&self) -> u64 {
        let keys = self.keyspace.iter();
        PROCESS
            + keys
                .map(|entry| PER_KEY + entry.key().len() as u64 + size(entry.value()))
                .sum::<u64>()
    }

    /// Whether the memory limit is exceeded.
    #[must_use]
    pub fn is_above_limit(&self) -> bool {
        self.config
            .max_memory
            .is_some_and(|limit| self.used_memory() > limit)
    }

    /// The keys that the policy allows to remove; for `volatile-ttl` only those with the nearest deadline.
    #[must_use]
    pub fn evictable(&self) -> Vec<Bytes> {
        let policy = self.config.eviction;
        let candidates = self
            .keyspace
            .iter()
            .filter(|entry| policy.may_evict(entry.deadline_ms().is_some()));
        let nearest = match policy {
            EvictionPolicy::VolatileTtl => candidates
                .clone()
                .filter_map(super::Entry::deadline_ms)
                .min(),
            _ => None,
        };
        let candidates =
            candidates.filter(|entry| nearest.is_none() || entry.deadline_ms() == nearest);
        candidates.map(|entry| entry.key().clone()).collect()
    }

    /// Removes a key as the eviction does: watchers notice, and the removal is an effect. Says whether it
    /// was there.
    pub fn evict(&mut self, key: &[u8]) -> bool {
        self.delete(&Bytes::from(key))
    }

    /// Frees memory as the policy allows, in byte order of the keys, and says whether the limit is still
    /// exceeded. A scheduler that wants to choose the victim calls [`evict`](Self::evict) before.
    pub(crate) fn free_memory(&mut self) -> bool {
        if self.role == Role::Replica {
            return false;
        }
        while self.is_above_limit() {
            let Some(victim) = self.evictable().into_iter().next() else {
                return true;
            };
            self.delete(&victim);
        }
        false
    }
}

fn size(value: &Value) -> u64 {
    let sum: usize = match value {
        Value::Text(text) => return text.size() as u64,
        Value::Hash(hash) => hash
            .iter()
            .map(|(field, text)| field.len() + text.size())
            .sum(),
        Value::List(list) => list.iter().map(super::value::Text::size).sum(),
        Value::Set(set) => set.iter().map(super::value::Text::size).sum(),
        Value::SortedSet(zset) => zset.iter().map(|(_, member)| member.len() + 8).sum(),
    };
    sum as u64 + PER_ELEMENT * elements(value)
}

fn elements(value: &Value) -> u64 {
    let count = match value {
        Value::Text(_) => 0,
        Value::Hash(hash) => hash.len(),
        Value::List(list) => list.len(),
        Value::Set(set) => set.len(),
        Value::SortedSet(zset) => zset.len(),
    };
    count as u64
}
