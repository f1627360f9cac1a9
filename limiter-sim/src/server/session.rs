//! What a server remembers about one connection.

use std::sync::Arc;

use super::fingerprint::{Of, fingerprint};
use super::{Bytes, Request, Version};

/// The number of a connection; whoever drives the node chooses it.
pub type ConnectionId = u32;

/// The state of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Session {
    /// The open transaction.
    pub(crate) multi: Option<Transaction>,
    /// The watched keys.
    pub(crate) watched: Vec<Bytes>,
    /// Whether a watched key was touched.
    pub(crate) dirty: bool,
    /// Whether the next command may go to a slot that is being imported.
    pub(crate) asking: bool,
    /// Whether reads from a cluster replica are wanted.
    pub(crate) readonly: bool,
    /// The position at which it wrote last, where replicas acknowledge.
    pub(crate) written: u64,
    /// The name that the client gave itself.
    pub(crate) name: Bytes,
}

/// A session as a node keeps it: shared until it changes, with its fingerprint at hand.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    session: Arc<Session>,
    fingerprint: u128,
}

impl Remembered {
    pub(crate) fn new(session: Session) -> Self {
        Self {
            fingerprint: fingerprint(Of::Session, &session),
            session: Arc::new(session),
        }
    }

    pub(crate) fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) fn change<R>(&mut self, change: impl FnOnce(&mut Session) -> R) -> R {
        let session = Arc::make_mut(&mut self.session);
        let result = change(session);
        self.fingerprint = fingerprint(Of::Session, session);
        result
    }
}

/// The commands since `MULTI`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Transaction {
    pub(crate) queue: Vec<Request>,
    /// Whether a command could not be queued: `EXEC` will refuse.
    pub(crate) broken: bool,
}

impl Session {
    /// Whether a change of `key` makes a difference to it.
    pub(crate) fn notices(&self, key: &Bytes) -> bool {
        !self.dirty && self.watched.contains(key)
    }

    /// Queues a command, unless it is clear already that `EXEC` will not run it.
    pub(crate) fn queue(&mut self, request: &Request) {
        let dirty = self.dirty;
        let transaction = self.multi.get_or_insert_default();
        if !transaction.broken && !dirty {
            transaction.queue.push(request.clone());
        }
    }

    /// A command could not be queued. Valkey forgets at once what was queued before.
    pub(crate) fn break_transaction(&mut self, version: Version) {
        let transaction = self.multi.get_or_insert_default();
        transaction.broken = true;
        if version.is_valkey() {
            transaction.queue.clear();
        }
    }

    pub(crate) fn unwatch(&mut self) {
        self.watched.clear();
        self.dirty = false;
    }
}
