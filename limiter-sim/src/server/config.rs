//! How a node is set up.

use std::fmt;

use super::Version;

/// What a node does when its memory limit is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EvictionPolicy {
    /// Refuses commands that need memory.
    #[default]
    NoEviction,
    /// Removes any key, least recently used first.
    AllKeysLru,
    /// Removes any key, least frequently used first.
    AllKeysLfu,
    /// Removes any key, at random.
    AllKeysRandom,
    /// Removes keys with a deadline, least recently used first.
    VolatileLru,
    /// Removes keys with a deadline, least frequently used first.
    VolatileLfu,
    /// Removes keys with a deadline, at random.
    VolatileRandom,
    /// Removes keys with a deadline, nearest deadline first.
    VolatileTtl,
}

impl EvictionPolicy {
    const NAMES: [(Self, &'static str); 8] = [
        (Self::NoEviction, "noeviction"),
        (Self::AllKeysLru, "allkeys-lru"),
        (Self::AllKeysLfu, "allkeys-lfu"),
        (Self::AllKeysRandom, "allkeys-random"),
        (Self::VolatileLru, "volatile-lru"),
        (Self::VolatileLfu, "volatile-lfu"),
        (Self::VolatileRandom, "volatile-random"),
        (Self::VolatileTtl, "volatile-ttl"),
    ];

    /// The policy with this name, as `maxmemory-policy` spells it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::NAMES
            .iter()
            .find(|(_, known)| known.eq_ignore_ascii_case(name));
        found.map(|(policy, _)| *policy)
    }

    /// The name, as `maxmemory-policy` spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(policy, _)| *policy == self);
        found.map_or("noeviction", |(_, name)| name)
    }

    /// Whether a key with or without a deadline may be removed.
    #[must_use]
    pub fn may_evict(self, has_deadline: bool) -> bool {
        match self {
            Self::NoEviction => false,
            Self::AllKeysLru | Self::AllKeysLfu | Self::AllKeysRandom => true,
            Self::VolatileLru | Self::VolatileLfu | Self::VolatileRandom | Self::VolatileTtl => {
                has_deadline
            }
        }
    }
}

/// The settings of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Config {
    /// Which server the node behaves as.
    pub version: Version,
    /// The memory limit in modelled bytes (see [`Node::used_memory`](super::Node::used_memory));
    /// `None` is no limit. Zero is refused: in Redis it means none.
    pub max_memory: Option<u64>,
    /// What happens at the limit.
    pub eviction: EvictionPolicy,
    /// How many good replicas a write asks for; 0 asks for none.
    pub min_replicas_to_write: u32,
    /// How many replicas acknowledge what a `WAIT` waits for, before it times out: a `WAIT` is answered
    /// so many, and the replica that a failover promotes is one of them. 0 is the worst case: no
    /// replica acknowledges in time, or another one can be promoted.
    pub acknowledging_replicas: u32,
    /// Whether the node is part of a cluster: scripts may then touch only keys that they declare.
    pub cluster: bool,
    /// After how many Lua instructions a script counts as one that never returns; 0 means the default
    /// of 10 million.
    pub script_instructions: u32,
}

impl Config {
    /// The defaults of a fresh server of this version.
    #[must_use]
    pub fn new(version: Version) -> Self {
        Self {
            version,
            ..Self::default()
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// Names the setting that cannot be.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.max_memory == Some(0) {
            return Err(ConfigError(
                "max_memory must be positive; None means no limit",
            ));
        }
        Ok(())
    }

    pub(crate) fn instruction_limit(&self) -> u32 {
        if self.script_instructions == 0 {
            10_000_000
        } else {
            self.script_instructions
        }
    }
}

/// A setting that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError(&'static str);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for ConfigError {}
