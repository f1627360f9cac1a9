//! The scripts that a node knows by name.

use std::sync::Arc;

use super::{ScriptFlags, Sha};
use crate::server::fingerprint::{Of, fingerprint};
use crate::server::{Bytes, Version};

/// From 7.4 on (and in Valkey) only so many scripts stay that came by `EVAL` rather than `SCRIPT LOAD`.
const EVAL_SCRIPTS: usize = 500;

/// A script in the cache.
#[derive(Clone, Debug)]
pub(crate) struct CachedScript {
    pub(crate) sha: Sha,
    pub(crate) source: Bytes,
    pub(crate) flags: ScriptFlags,
    /// Whether it came by `EVAL`, so that others may push it out.
    pub(crate) evictable: bool,
}

/// The script cache. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptCache {
    scripts: Arc<Vec<CachedScript>>,
    fingerprint: u128,
}

impl ScriptCache {
    pub(crate) fn is_empty(&self) -> bool {
        self.scripts.is_empty()
    }

    pub(crate) fn script(&self, sha: Sha) -> Option<&CachedScript> {
        self.scripts.iter().find(|script| script.sha == sha)
    }

    /// Adds a script that is not there yet; the oldest that came by `EVAL` may have to go.
    pub(crate) fn insert(&mut self, script: CachedScript, version: Version) {
        let scripts = Arc::make_mut(&mut self.scripts);
        if version >= Version::Redis82 && script.evictable {
            let evictable = scripts.iter().filter(|other| other.evictable).count();
            if evictable >= EVAL_SCRIPTS
                && let Some(oldest) = scripts.iter().position(|other| other.evictable)
            {
                scripts.remove(oldest);
            }
        }
        scripts.push(script);
        self.refresh();
    }

    /// Keeps a script that came by `EVAL` for good.
    pub(crate) fn keep(&mut self, sha: Sha) {
        if self
            .scripts
            .iter()
            .any(|script| script.sha == sha && script.evictable)
        {
            for script in Arc::make_mut(&mut self.scripts) {
                script.evictable &= script.sha != sha;
            }
            self.refresh();
        }
    }

    /// Loads a script that has been checked by another node.
    pub(crate) fn load(&mut self, source: &Bytes, version: Version) {
        let sha = Sha::of(source);
        if self.script(sha).is_none() {
            let (flags, _) = super::flags::parse(source, version).unwrap_or_default();
            self.insert(
                CachedScript {
                    sha,
                    source: source.clone(),
                    flags,
                    evictable: false,
                },
                version,
            );
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    fn refresh(&mut self) {
        let each = self
            .scripts
            .iter()
            .map(|script| fingerprint(Of::Script, &(script.sha, script.evictable)));
        self.fingerprint = each.fold(0, u128::wrapping_add);
    }
}
