//! The modelled server process.

use std::sync::Arc;

use super::config::{Config, ConfigError};
use super::effect::Changes;
use super::fingerprint::{Of, fingerprint};
use super::keyspace::Keyspace;
use super::lua::{RandomState, ScriptCache};
use super::replication::Replication;
use super::session::{ConnectionId, Remembered};
use super::{Bytes, Entry, Version};

/// What part a node plays in replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Takes writes and removes expired keys.
    #[default]
    Primary,
    /// Refuses writes of clients, and hides expired keys until its primary removes them.
    Replica,
}

/// One server: its data, sessions, scripts and clock. Cloning shares everything that is large.
#[derive(Clone, Debug)]
pub struct Node {
    pub(super) config: Arc<Config>,
    pub(super) now_ms: i64,
    pub(super) keyspace: Keyspace,
    /// Only connections with something to remember; all others are as fresh ones.
    pub(super) sessions: Arc<Vec<(ConnectionId, Remembered)>>,
    pub(super) scripts: ScriptCache,
    pub(super) random: RandomState,
    pub(super) role: Role,
    pub(super) loading: bool,
    pub(super) replication: Replication,
    pub(super) changes: Changes,
    pub(super) run: Option<super::lua::ScriptRun>,
    pub(super) out_of_memory: bool,
    pub(super) unmodelled: Vec<String>,
    pub(super) undeclared_keys: Vec<Bytes>,
}

impl Node {
    /// An empty primary at time 0.
    ///
    /// # Errors
    ///
    /// Names the setting that cannot be.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.validate()?;
        let acknowledging = config.acknowledging_replicas;
        let mut node = Self {
            config: Arc::new(config),
            now_ms: 0,
            keyspace: Keyspace::default(),
            sessions: Arc::default(),
            scripts: ScriptCache::default(),
            random: RandomState::default(),
            role: Role::Primary,
            loading: false,
            replication: Replication::default(),
            changes: Changes::default(),
            run: None,
            out_of_memory: false,
            unmodelled: Vec::new(),
            undeclared_keys: Vec::new(),
        };
        node.set_acknowledging_replicas(acknowledging);
        Ok(node)
    }

    /// The settings, as `CONFIG SET` may have changed them.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes the settings.
    ///
    /// # Errors
    ///
    /// Names the setting that cannot be; nothing has changed then.
    pub fn set_config(&mut self, config: Config) -> Result<(), ConfigError> {
        config.validate()?;
        self.config = Arc::new(config);
        Ok(())
    }

    pub(crate) fn version(&self) -> Version {
        self.config.version
    }

    /// The node's clock, in milliseconds.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// Moves the node's clock, forward or back. A primary removes the keys that have expired at once, as
    /// if its expiry cycle ran without delay, and watchers of those keys notice.
    pub fn set_time(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
        self.purge_expired();
    }

    /// The part that the node plays.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Makes the node a primary or a replica. Sessions stay.
    pub fn set_role(&mut self, role: Role) {
        self.role = role;
        self.purge_expired();
    }

    /// Whether commands are answered with `LOADING`.
    pub fn set_loading(&mut self, loading: bool) {
        self.loading = loading;
    }

    /// The real commands, options and Lua functions that the model lacks and that were asked for, in
    /// order of first use. What the node answered cannot be trusted then: whoever drives it should stop
    /// and show this.
    #[must_use]
    pub fn unmodelled(&self) -> &[String] {
        &self.unmodelled
    }

    /// The keys that scripts touched without declaring them, in order of first use. A cluster refuses them.
    #[must_use]
    pub fn undeclared_keys(&self) -> &[Bytes] {
        &self.undeclared_keys
    }

    pub(crate) fn note_unmodelled(&mut self, what: &str) {
        if !self.unmodelled.iter().any(|known| known == what) {
            self.unmodelled.push(what.to_owned());
        }
    }

    pub(crate) fn note_undeclared(&mut self, key: &Bytes) {
        if !self.undeclared_keys.contains(key) {
            self.undeclared_keys.push(key.clone());
        }
    }

    /// The entries in byte order of their keys. On a replica some may have expired.
    pub fn keyspace(&self) -> impl Iterator<Item = &Entry> {
        self.keyspace.iter()
    }

    /// What a key holds, as clients see it: nothing once it has expired.
    #[must_use]
    pub fn entry(&self, key: &[u8]) -> Option<&Entry> {
        self.keyspace
            .entry(key)
            .filter(|entry| !entry.is_expired(self.now_ms))
    }

    /// A 128-bit keyed hash of all that can influence later replies, except the clock (whoever moves it
    /// hashes it) and the sessions (see [`session_hash`](Self::session_hash)).
    #[must_use]
    pub fn data_hash(&self) -> u128 {
        let flags = (
            self.out_of_memory,
            self.loading,
            self.role,
            self.replication.seen(),
            self.random,
        );
        let flags = if flags == Default::default() {
            0
        } else {
            fingerprint(Of::Flags, &flags)
        };
        let limits = self.config.max_memory.is_some() || self.config.min_replicas_to_write > 0;
        let limits = if limits {
            fingerprint(Of::Settings, &*self.config)
        } else {
            0
        };
        let data = self
            .keyspace
            .fingerprint()
            .wrapping_add(self.scripts.fingerprint());
        data.wrapping_add(flags).wrapping_add(limits)
    }

    /// A 128-bit keyed hash of what the server remembers about one connection. It does not depend on the
    /// connection's number.
    #[must_use]
    pub fn session_hash(&self, id: ConnectionId) -> u128 {
        let mut sessions = self.sessions.iter();
        let known = sessions.find(|(other, _)| *other == id);
        known.map_or(0, |(_, session)| session.fingerprint())
    }
}
