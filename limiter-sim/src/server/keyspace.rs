//! The keys of a node with what they hold.

use std::sync::{Arc, OnceLock};

use super::Bytes;
use super::fingerprint::{Of, fingerprint};
use super::value::Value;

/// A key, its value, and the last millisecond at which it lives.
#[derive(Clone, Debug)]
pub struct Entry {
    key: Bytes,
    value: Value,
    deadline_ms: Option<i64>,
    fingerprint: OnceLock<u128>,
}

impl Entry {
    fn new(key: Bytes, value: Value, deadline_ms: Option<i64>) -> Arc<Self> {
        Arc::new(Self {
            key,
            value,
            deadline_ms,
            fingerprint: OnceLock::new(),
        })
    }

    /// The key's name.
    #[must_use]
    pub fn key(&self) -> &Bytes {
        &self.key
    }

    /// What the key holds.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The last millisecond at which the key lives, if it has a deadline.
    #[must_use]
    pub fn deadline_ms(&self) -> Option<i64> {
        self.deadline_ms
    }

    /// Whether the deadline has passed: a key lives while `now <= deadline`.
    #[must_use]
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.deadline_ms.is_some_and(|deadline| now_ms > deadline)
    }

    /// A 128-bit hash of key, value and deadline.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        *self
            .fingerprint
            .get_or_init(|| fingerprint(Of::Entry, &(&self.key, &self.value, self.deadline_ms)))
    }
}

/// All keys, in byte order. Cloning shares everything; a write copies one entry and the list of entries,
/// so that a node is made for few keys (hundreds, not millions).
#[derive(Clone, Debug, Default)]
pub struct Keyspace {
    entries: Arc<Vec<Arc<Entry>>>,
}

impl Keyspace {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries in byte order of their keys, expired ones included.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> + Clone {
        self.entries.iter().map(|entry| &**entry)
    }

    /// The entry of a key, even if it has expired.
    #[must_use]
    pub fn entry(&self, key: &[u8]) -> Option<&Entry> {
        self.position(key).ok().map(|at| &*self.entries[at])
    }

    /// A 128-bit hash of all entries.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.entries
            .iter()
            .fold(0, |sum, entry| sum.wrapping_add(entry.fingerprint()))
    }

    /// Sets value and deadline of a key, whether it is there or not.
    pub(crate) fn put(&mut self, key: &Bytes, value: Value, deadline_ms: Option<i64>) {
        match self.position(key) {
            Ok(at) => {
                let entry = self.entry_mut(at);
                entry.value = value;
                entry.deadline_ms = deadline_ms;
            }
            Err(at) => self
                .entries_mut()
                .insert(at, Entry::new(key.clone(), value, deadline_ms)),
        }
    }

    /// The value of a key, to be changed in place.
    pub(crate) fn value_mut(&mut self, key: &[u8]) -> Option<&mut Value> {
        let at = self.position(key).ok()?;
        Some(&mut self.entry_mut(at).value)
    }

    /// Sets the deadline of a key that is there.
    pub(crate) fn set_deadline(&mut self, key: &[u8], deadline_ms: Option<i64>) {
        if let Ok(at) = self.position(key) {
            self.entry_mut(at).deadline_ms = deadline_ms;
        }
    }

    /// Removes a key; says whether it was there.
    pub(crate) fn remove(&mut self, key: &[u8]) -> bool {
        self.position(key)
            .map(|at| self.entries_mut().remove(at))
            .is_ok()
    }

    pub(crate) fn clear(&mut self) {
        self.entries = Arc::default();
    }

    fn position(&self, key: &[u8]) -> Result<usize, usize> {
        match self.entries.as_slice() {
            // The commonest case by far.
            [only] if *only.key == *key => Ok(0),
            entries => entries.binary_search_by(|entry| (*entry.key).cmp(key)),
        }
    }

    fn entries_mut(&mut self) -> &mut Vec<Arc<Entry>> {
        Arc::make_mut(&mut self.entries)
    }

    fn entry_mut(&mut self, at: usize) -> &mut Entry {
        let entry = Arc::make_mut(&mut Arc::make_mut(&mut self.entries)[at]);
        entry.fingerprint = OnceLock::new();
        entry
    }
}
