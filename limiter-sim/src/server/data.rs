//! How commands reach the data: every change goes through here, so that watchers, effects and the
//! removal of empty collections cannot be forgotten.

use std::sync::Arc;

use super::effect::{Deadline, Effect};
use super::node::{Node, Role};
use super::reply::Failure;
use super::value::{Hash, List, Set, SortedSet, Text, Value};
use super::{Bytes, Version};

/// A type of value that is a collection.
pub(crate) trait Collection: Clone + Default {
    fn of(value: &Value) -> Option<&Self>;
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    fn wrap(self) -> Value;
}

macro_rules! collection {
    ($($kind:ident),*) => {$(
        impl Collection for $kind {
            fn of(value: &Value) -> Option<&Self> {
                match value {
                    Value::$kind(inner) => Some(inner),
                    _ => None,
                }
            }
            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                match value {
                    Value::$kind(inner) => Some(Arc::make_mut(inner)),
                    _ => None,
                }
            }
            fn wrap(self) -> Value {
                Value::$kind(Arc::new(self))
            }
        }
    )*};
}

collection!(Hash, List, Set, SortedSet);

/// Whether a change took place.
pub(crate) type Changed = bool;

impl Node {
    pub(crate) fn value(&self, key: &[u8]) -> Option<&Value> {
        self.entry(key).map(super::Entry::value)
    }

    /// The string at a key.
    pub(crate) fn text(&self, key: &[u8]) -> Result<Option<&Text>, Failure> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(Failure::wrong_type()),
        }
    }

    /// The collection at a key.
    pub(crate) fn read<C: Collection>(&self, key: &[u8]) -> Result<Option<&C>, Failure> {
        match self.value(key) {
            None => Ok(None),
            Some(value) => C::of(value).map(Some).ok_or_else(Failure::wrong_type),
        }
    }

    /// Changes the collection at a key, which is created if it is absent and removed if it ends up
    /// empty. Nobody is told if the closure says that it changed nothing.
    pub(crate) fn change<C: Collection, R>(
        &mut self,
        key: &Bytes,
        change: impl FnOnce(&mut C) -> (R, Changed),
    ) -> Result<R, Failure> {
        let is_new = self.entry(key).is_none();
        if is_new {
            let mut fresh = C::default();
            let (result, changed) = change(&mut fresh);
            let value = fresh.wrap();
            if changed && !value.is_empty_collection() {
                self.put(key, value, Deadline::Never);
            }
            return Ok(result);
        }
        let value = self
            .keyspace
            .value_mut(key)
            .ok_or_else(Failure::wrong_type)?;
        let collection = C::of_mut(value).ok_or_else(Failure::wrong_type)?;
        let (result, changed) = change(collection);
        if value.is_empty_collection() {
            self.delete(key);
        } else if changed {
            self.announce(key, Deadline::Keep);
        }
        Ok(result)
    }

    /// Sets a key. A deadline that has passed already lets the key expire at once.
    pub(crate) fn put(&mut self, key: &Bytes, value: Value, deadline: Deadline) {
        let old = self.keyspace.entry(key).and_then(super::Entry::deadline_ms);
        let (deadline_ms, deadline) = match deadline {
            Deadline::Keep if self.keyspace.entry(key).is_none() => (None, Deadline::Never),
            Deadline::Keep => (old, Deadline::Keep),
            Deadline::Never => (None, Deadline::Never),
            Deadline::At(at_ms) | Deadline::In { at_ms, .. } => (Some(at_ms), deadline),
        };
        self.keyspace.put(key, value, deadline_ms);
        self.announce(key, deadline);
        if deadline_ms.is_some_and(|at| self.now_ms > at) && self.role == Role::Primary {
            self.delete(key);
        }
    }

    /// Changes the string at a key in place and keeps its deadline.
    pub(crate) fn put_text(&mut self, key: &Bytes, text: Text) {
        if let Some(value) = self.keyspace.value_mut(key) {
            *value = Value::Text(text);
            self.announce(key, Deadline::Keep);
        } else {
            self.put(key, Value::Text(text), Deadline::Never);
        }
    }

    /// Sets or removes the deadline of a key that is there.
    pub(crate) fn set_deadline(&mut self, key: &Bytes, deadline: Deadline) {
        let deadline_ms = match deadline {
            Deadline::Keep => return,
            Deadline::Never => None,
            Deadline::At(at_ms) | Deadline::In { at_ms, .. } => Some(at_ms),
        };
        self.keyspace.set_deadline(key, deadline_ms);
        self.announce(key, deadline);
    }

    /// Removes a key; says whether it was there.
    pub(crate) fn delete(&mut self, key: &Bytes) -> bool {
        let removed = self.keyspace.remove(key);
        if removed {
            self.announce(key, Deadline::Never);
        }
        removed
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        let keys: Vec<Bytes> = self
            .keyspace
            .iter()
            .map(|entry| entry.key().clone())
            .collect();
        self.keyspace.clear();
        for key in keys {
            self.announce(&key, Deadline::Never);
        }
    }

    /// A deadline that a command gave relative to now.
    pub(crate) fn deadline_in(&self, ttl_ms: i64, at_ms: i64) -> Deadline {
        if self.version() == Version::Redis62 {
            Deadline::In { ttl_ms, at_ms }
        } else {
            Deadline::At(at_ms)
        }
    }

    pub(super) fn purge_expired(&mut self) {
        if self.role == Role::Replica {
            return;
        }
        let now_ms = self.now_ms;
        if !self.keyspace.iter().any(|entry| entry.is_expired(now_ms)) {
            return;
        }
        let expired = self
            .keyspace
            .iter()
            .filter(|entry| entry.is_expired(now_ms));
        for key in expired.map(|entry| entry.key().clone()).collect::<Vec<_>>() {
            self.delete(&key);
        }
    }

    fn announce(&mut self, key: &Bytes, deadline: Deadline) {
        self.touch_watchers(key);
        self.changes.note(key, deadline);
    }

    /// Whether anything was done to data since the effects were last taken.
    #[must_use]
    pub fn has_effects(&self) -> bool {
        !self.changes.is_empty()
    }

    /// What was done to data since the last call, in order of first touch. It is one atomic batch: a disk
    /// or a replica takes all of it or nothing, as it does with a command, a script or an `EXEC`. So take
    /// it after every [`execute`](Self::execute) and [`set_time`](Self::set_time).
    pub fn take_effects(&mut self) -> Vec<Effect> {
        if self.has_effects() {
            self.move_position();
        }
        let changes = std::mem::take(&mut self.changes);
        let mut effects = changes.scripts;
        effects.extend(changes.keys.into_iter().map(|(key, deadline)| {
            match self.keyspace.entry(&key) {
                Some(entry) => Effect::Put {
                    value: entry.value().clone(),
                    key,
                    deadline,
                },
                None => Effect::Delete { key },
            }
        }));
        effects
    }

    /// Does what another node did, on a replica or while a log is loaded. It does not come back out of
    /// [`take_effects`](Self::take_effects).
    pub fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Put {
                key,
                value,
                deadline,
            } => {
                let old = self.keyspace.entry(key).and_then(super::Entry::deadline_ms);
                let deadline_ms = match *deadline {
                    Deadline::Keep => old,
                    Deadline::Never => None,
                    Deadline::At(at_ms) => Some(at_ms),
                    Deadline::In { ttl_ms, .. } => Some(self.now_ms.saturating_add(ttl_ms)),
                };
                self.keyspace.put(key, value.clone(), deadline_ms);
                self.touch_watchers(key);
            }
            Effect::Delete { key } => {
                self.keyspace.remove(key);
                self.touch_watchers(key);
            }
            Effect::LoadScript { source } => self.scripts.load(source, self.config.version),
            Effect::FlushScripts => self.scripts.clear(),
        }
    }
}
