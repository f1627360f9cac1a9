//! What a primary knows of the replicas that follow it.

use std::hash::Hash;

use super::node::Node;
use super::session::ConnectionId;

/// Positions count the batches of effects that were taken ([`Node::take_effects`]).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Replication {
    /// How many there are.
    position: u64,
    /// How many of them replicas have for certain, because a `WAIT` was told so.
    acknowledged: u64,
    /// How many replicas acknowledge before any time-out of a `WAIT`.
    acknowledging: u32,
    /// How many replicas are connected and not too far behind.
    pub(super) good: u32,
}

impl Replication {
    /// What can influence a reply, or a promotion. The position is told by the log that it is one of.
    pub(super) fn seen(self) -> impl Hash + Default + PartialEq {
        (self.acknowledged, self.acknowledging, self.good)
    }
}

impl Node {
    /// How many replicas are connected and not too far behind: what `min-replicas-to-write` counts.
    pub fn set_good_replicas(&mut self, count: u32) {
        self.replication.good = count;
    }

    /// How many replicas acknowledge what a `WAIT` waits for. At first it is what the settings say.
    pub fn set_acknowledging_replicas(&mut self, count: u32) {
        self.replication.acknowledging = count;
    }

    /// How many batches of effects, from the first on, replicas have acknowledged to a `WAIT`: those
    /// that had been taken when the connection that waited wrote last, with that write's own.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.replication.acknowledged
    }

    /// The node holds what this many batches of effects have made of it.
    pub fn set_position(&mut self, position: u64) {
        self.replication.position = position;
    }

    pub(super) fn move_position(&mut self) {
        if self.replication.acknowledging > 0 {
            self.replication.position += 1;
        }
    }

    /// Remembers that a connection wrote, if anybody can wait for that.
    pub(super) fn note_written(&mut self, id: ConnectionId) {
        if self.replication.acknowledging > 0 && self.has_effects() {
            let written = self.replication.position + 1;
            self.with_session(id, |session| session.written = written);
        }
    }

    /// What a `WAIT` for this many replicas is answered. Who waits for none has not waited, and
    /// learns of nothing new.
    pub(super) fn wait(&mut self, id: ConnectionId, wanted: i64) -> u32 {
        let written = self.session(id).map_or(0, |session| session.written);
        if wanted <= 0 || self.replication.acknowledging == 0 {
            return 0;
        }
        self.replication.acknowledged = self.replication.acknowledged.max(written);
        self.replication.acknowledging
    }

    /// Does something in which nobody waits, as in a transaction.
    pub(super) fn without_waiting<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let acknowledging = std::mem::take(&mut self.replication.acknowledging);
        let result = run(self);
        self.replication.acknowledging = acknowledging;
        result
    }
}
