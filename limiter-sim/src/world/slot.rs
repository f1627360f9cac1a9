//! A server in the world: the modelled node, its clock, and its fingerprint.

use std::sync::Arc;

use crate::fingerprint::Digest;
use crate::server::{Node, Role};

/// A node, shared between states until one of them changes it.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    node: Arc<Node>,
    data: Digest,
    /// What its clock shows more than the reference clock, in milliseconds.
    offset_ms: i64,
    /// When it notices that no replica follows it any more, if it asks.
    alone_from: Option<u64>,
}

/// How long a replica may be silent before `min-replicas-to-write` counts it no more: the default of
/// `min-replicas-max-lag`, in whole seconds, is not exceeded by 10.
const UNNOTICED_MS: u64 = 11_000;

impl Slot {
    /// The same server as a replica: it takes no writes of clients.
    pub(super) fn as_replica(&self) -> Self {
        let mut replica = self.clone();
        replica.change(|node| (node.set_role(Role::Replica), true));
        replica
    }

    /// A primary. One replica follows it and is not too far behind, as `min-replicas-to-write` sees
    /// it.
    pub(super) fn new(mut node: Node, offset_ms: i64) -> Self {
        node.set_good_replicas(1);
        Self {
            data: Digest(node.data_hash()),
            node: Arc::new(node),
            offset_ms,
            alone_from: None,
        }
    }

    /// Its replicas follow another one from `now` on. It counts them until it misses them.
    pub(super) fn abandon(&mut self, now: u64) {
        let asks = self.node.config().min_replicas_to_write > 0;
        self.alone_from = asks.then_some(now + UNNOTICED_MS);
        self.change(|node| (node.set_acknowledging_replicas(0), true));
    }

    /// The instant at which it will notice that nobody follows it.
    pub(super) fn alone_from(&self) -> Option<u64> {
        self.alone_from
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// Lets `change` change the node. The fingerprint is brought up to date only where it says that
    /// data may have changed.
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut Node) -> (R, bool)) -> R {
        let node = Arc::make_mut(&mut self.node);
        let (result, changed) = change(node);
        if changed {
            self.data = Digest(node.data_hash());
        }
        result
    }

    /// The node's own time when the reference clock shows `now`.
    pub(super) fn own_time(&self, now: u64) -> i64 {
        signed(now) + self.offset_ms
    }

    /// Moves the node's clock to reference time `now`.
    pub(super) fn set_time(&mut self, now: u64) {
        let own = self.own_time(now);
        if self.alone_from.is_some_and(|from| now >= from) {
            self.alone_from = None;
            self.change(|node| (node.set_good_replicas(0), true));
        }
        self.change(|node| (node.set_time(own), true));
    }

    /// Sets the node's clock, which then shows `by_ms` more than it does.
    pub(super) fn jump(&mut self, by_ms: i64, now: u64) {
        self.offset_ms += by_ms;
        self.set_time(now);
    }

    pub(super) fn offset_ms(&self) -> i64 {
        self.offset_ms
    }

    /// The reference time at which the node's clock shows `own`.
    pub(super) fn reference_time(&self, own: i64) -> u64 {
        u64::try_from(own - self.offset_ms).unwrap_or(0)
    }

    pub(super) fn digest(&self) -> Digest {
        if self.offset_ms == 0 && self.alone_from.is_none() {
            return self.data;
        }
        Digest::of(&(self.data.0, self.offset_ms, self.alone_from))
    }
}

pub(super) fn signed(ms: u64) -> i64 {
    i64::try_from(ms).expect("reference time fits")
}
