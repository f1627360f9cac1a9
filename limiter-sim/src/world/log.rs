//! What a primary did, in order: all that disks and replicas know.

use std::rc::Rc;

use super::slot::signed;
use crate::fingerprint::Digest;
use crate::server::{Config, Effect, Node};

/// What each command or script did, with the reference time at which it happened. A disk or replica
/// has all that one of them did, or nothing of it. Prefixes share what they have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    entries: Rc<Vec<Entry>>,
    /// How many of the entries are this log's.
    len: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    effects: Rc<[Effect]>,
    at: u64,
    /// Of all entries up to this one.
    digest: Digest,
}

impl Log {
    pub(super) fn push(&mut self, effects: Rc<[Effect]>, at: u64) {
        let digest = Digest::of(&(self.digest().0, &effects, at));
        let entries = Rc::make_mut(&mut self.entries);
        entries.truncate(self.len);
        entries.push(Entry {
            effects,
            at,
            digest,
        });
        self.len += 1;
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn entries(&self) -> &[Entry] {
        &self.entries[..self.len]
    }

    /// How many of them happened before `instant`.
    pub(super) fn before(&self, instant: u64) -> usize {
        self.entries().partition_point(|entry| entry.at < instant)
    }

    /// The first `kept` of them.
    pub(super) fn first(&self, kept: usize) -> Self {
        Self {
            entries: Rc::clone(&self.entries),
            len: kept.min(self.len),
        }
    }

    /// A node that holds what this log says. Each is applied at the instant at which it
    /// happened; a disk holds instants where a replica may receive lengths of time.
    pub(super) fn node(&self, config: &Config, offset_ms: i64, from_disk: bool) -> Node {
        let mut node = Node::new(config.clone()).expect("the settings were valid before");
        for entry in self.entries() {
            node.set_time(signed(entry.at) + offset_ms);
            for effect in entry.effects.iter() {
                if from_disk {
                    node.apply(&effect.clone().on_disk());
                } else {
                    node.apply(effect);
                }
            }
        }
        node.take_effects();
        node.set_position(self.len as u64);
        node
    }

    pub(super) fn digest(&self) -> Digest {
        self.entries()
            .last()
            .map_or_else(Digest::default, |entry| entry.digest)
    }
}
