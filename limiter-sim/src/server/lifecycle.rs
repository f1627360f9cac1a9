//! Connections, restarts, and the faults that a node itself can suffer.

use std::sync::Arc;

use super::keyspace::Keyspace;
use super::lua::{RandomState, ScriptCache};
use super::node::Node;
use super::session::{ConnectionId, Remembered, Session};
use super::{Bytes, Version};

/// All data of a node: what a snapshot on disk or a full synchronisation carries. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Dataset {
    keyspace: Keyspace,
    scripts: ScriptCache,
}

impl Dataset {
    /// A 128-bit keyed hash of the data.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.keyspace
            .fingerprint()
            .wrapping_add(self.scripts.fingerprint())
    }

    /// The keys with what they hold.
    #[must_use]
    pub fn keyspace(&self) -> &Keyspace {
        &self.keyspace
    }
}

impl Node {
    /// A new connection. Its number must not be in use; what was remembered under it is forgotten.
    pub fn connect(&mut self, id: ConnectionId) {
        self.disconnect(id);
    }

    /// The end of a connection: its transaction and its watched keys are gone.
    pub fn disconnect(&mut self, id: ConnectionId) {
        if self.session(id).is_some() {
            Arc::make_mut(&mut self.sessions).retain(|(other, _)| *other != id);
        }
    }

    /// The data as it is now. Only Redis 6.2 puts scripts in it.
    #[must_use]
    pub fn dataset(&self) -> Dataset {
        let with_scripts = self.version() == Version::Redis62;
        let scripts = if with_scripts {
            self.scripts.clone()
        } else {
            ScriptCache::default()
        };
        Dataset {
            keyspace: self.keyspace.clone(),
            scripts,
        }
    }

    /// The process ends and comes back with this data: sessions, script cache and pending effects are
    /// gone, settings, role and clock stay. A log is loaded by applying its effects afterwards.
    pub fn restart_with(&mut self, dataset: Dataset) {
        self.sessions = Arc::default();
        self.random = RandomState::default();
        self.out_of_memory = false;
        self.run = None;
        self.load(dataset);
    }

    /// Takes over all data of another node (full synchronisation): a script cache on Redis 6.2 too.
    /// Sessions stay, but all watchers are told.
    pub fn load(&mut self, dataset: Dataset) {
        self.keyspace = dataset.keyspace;
        self.scripts = dataset.scripts;
        self.purge_expired();
        self.changes = super::effect::Changes::default();
        for (_, session) in Arc::make_mut(&mut self.sessions) {
            session.change(|session| session.dirty |= !session.watched.is_empty());
        }
    }

    /// Empties the script cache without a command (a fault).
    pub fn flush_scripts(&mut self) {
        self.scripts.clear();
    }

    pub(crate) fn session(&self, id: ConnectionId) -> Option<&Session> {
        self.sessions
            .iter()
            .find(|(other, _)| *other == id)
            .map(|(_, session)| session.session())
    }

    /// Changes what is remembered about a connection.
    pub(crate) fn with_session<R>(
        &mut self,
        id: ConnectionId,
        change: impl FnOnce(&mut Session) -> R,
    ) -> R {
        let sessions = Arc::make_mut(&mut self.sessions);
        let at = sessions
            .iter()
            .position(|(other, _)| *other == id)
            .unwrap_or_else(|| {
                sessions.push((id, Remembered::new(Session::default())));
                sessions.len() - 1
            });
        let result = sessions[at].1.change(change);
        if *sessions[at].1.session() == Session::default() {
            sessions.swap_remove(at);
        }
        result
    }

    /// Marks the sessions that watch this key.
    pub(crate) fn touch_watchers(&mut self, key: &Bytes) {
        if self
            .sessions
            .iter()
            .any(|(_, session)| session.session().notices(key))
        {
            for (_, session) in Arc::make_mut(&mut self.sessions) {
                if session.session().notices(key) {
                    session.change(|session| session.dirty = true);
                }
            }
        }
    }
}
