//! What a driver of the model asks of nodes and requests, beyond what clients can.

use std::sync::Arc;

use super::node::Node;
use super::session::ConnectionId;
use super::{Config, EvictionPolicy, ParseError, Request};

impl Request {
    /// Parses the requests that a buffer holds, one after the other.
    ///
    /// # Errors
    ///
    /// Where it holds anything else, or ends within a request.
    pub fn parse_all(mut bytes: &[u8]) -> Result<Vec<Self>, ParseError> {
        let mut requests = Vec::new();
        while !bytes.is_empty() {
            let (request, used) = Self::parse_prefix(bytes)?;
            requests.push(request);
            bytes = &bytes[used..];
        }
        Ok(requests)
    }

    /// Whether this is the command `name`, in any case.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.argv()[0].eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether executing it can change the script cache.
    #[must_use]
    pub fn can_cache_scripts(&self) -> bool {
        self.is("EVAL") || self.is("EVAL_RO") || self.is("SCRIPT") || self.is("EXEC")
    }
}

impl Node {
    /// Whether any script is cached.
    #[must_use]
    pub fn has_scripts(&self) -> bool {
        !self.scripts.is_empty()
    }

    /// Whether the node remembers something about any connection: a transaction, watched keys.
    #[must_use]
    pub fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Whether a connection is in the middle of a transaction.
    #[must_use]
    pub fn is_in_transaction(&self, id: ConnectionId) -> bool {
        self.session(id)
            .is_some_and(|session| session.multi.is_some())
    }

    /// Leaves no memory for anything more: commands that need some are refused, whatever the policy.
    pub fn fill_memory(&mut self) {
        self.config = Arc::new(Config {
            max_memory: Some(1),
            eviction: EvictionPolicy::NoEviction,
            ..self.config().clone()
        });
    }
}
