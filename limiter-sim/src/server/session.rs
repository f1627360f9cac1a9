//! What a server remembers about one connection.

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
    /// The name that the client gave itself.
    pub(crate) name: Bytes,
}

/// The commands since `MULTI`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Transaction {
    pub(crate) queue: Vec<Request>,
    /// Whether a command could not be queued: `EXEC` will refuse.
    pub(crate) broken: bool,
}

impl Session {
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
