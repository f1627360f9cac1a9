//! What a node did to its data, in a form that disks and replicas can carry without knowing commands.

use super::Bytes;
use super::value::Value;

/// What a [`Put`](Effect::Put) says about the key's deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deadline {
    /// The receiver keeps the one that it has.
    Keep,
    /// There is none.
    Never,
    /// This instant on the receiver's own clock.
    At(i64),
    /// This long after the receiver applies it (Redis 6.2 sends relative times to replicas). A disk holds
    /// `at_ms`, because the server writes instants to it.
    In {
        /// How long from now, in milliseconds.
        ttl_ms: i64,
        /// The instant by the sender's clock.
        at_ms: i64,
    },
}

impl Deadline {
    /// The same for a disk: instants only.
    #[must_use]
    pub fn on_disk(self) -> Self {
        match self {
            Self::In { at_ms, .. } => Self::At(at_ms),
            other => other,
        }
    }

    /// What remains after a later change of the same key.
    fn then(self, later: Self) -> Self {
        if later == Self::Keep { self } else { later }
    }
}

/// One change of data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The key now holds this.
    Put {
        /// The key.
        key: Bytes,
        /// All that it holds.
        value: Value,
        /// What happens to its deadline.
        deadline: Deadline,
    },
    /// The key is gone.
    Delete {
        /// The key.
        key: Bytes,
    },
    /// A script is in the cache (only Redis 6.2 carries scripts to replicas).
    LoadScript {
        /// The script's text.
        source: Bytes,
    },
    /// The script cache is empty (only Redis 6.2).
    FlushScripts,
}

impl Effect {
    /// The same for a disk: instants instead of relative times.
    #[must_use]
    pub fn on_disk(self) -> Self {
        match self {
            Self::Put {
                key,
                value,
                deadline,
            } => Self::Put {
                key,
                value,
                deadline: deadline.on_disk(),
            },
            other => other,
        }
    }
}

/// The changes since the effects were last taken: which keys, and what happened to their deadlines. Their
/// values are read when the effects are taken, because one batch is applied as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) keys: Vec<(Bytes, Deadline)>,
    pub(crate) scripts: Vec<Effect>,
}

impl Changes {
    pub(crate) fn note(&mut self, key: &Bytes, deadline: Deadline) {
        match self.keys.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = known.then(deadline),
            None => self.keys.push((key.clone(), deadline)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.scripts.is_empty()
    }
}
