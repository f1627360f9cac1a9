//! The store: one script call for each decision.

use std::fmt;

use async_trait::async_trait;
use limiter_core::{Acquire, Budget, BudgetStore, Capabilities, Decision, Error, Snapshot};
use redis::aio::ConnectionLike;

use crate::classify::{acquire_error, peek_error};
use crate::key::{HashTags, KeyLayout};
use crate::{answer, script};

/// Budgets on a Redis or Valkey server, shared by all who use it with the same prefix.
///
/// `C` is any connection of the `redis` crate, or another implementation of its [`ConnectionLike`].
/// The store clones it for each call, so a clone must be cheap and share the link, as that of a
/// multiplexed connection does. A connection that by itself resends a request after an I/O error
/// can charge twice; those that `RedisStoreBuilder` makes do not. A `redis` cluster connection must
/// be wrapped in a `RedirectingConnection`: alone it may report as not sent what it has sent.
///
/// A call is one request, or two where the server does not know the script yet. Nothing is retried
/// otherwise. How long a call may take is up to the connection's own response deadline.
///
/// # Cancel safety
/// A dropped acquire may have charged, and may still charge later: its request may be on its way.
#[derive(Clone)]
pub struct RedisStore<C> {
    connection: C,
    keys: KeyLayout,
}

impl<C> RedisStore<C> {
    /// Keeps budgets behind `connection`, under [`DEFAULT_PREFIX`](crate::DEFAULT_PREFIX). Sends
    /// nothing yet.
    pub fn new(connection: C) -> Self {
        Self {
            connection,
            keys: KeyLayout::default(),
        }
    }

    /// Puts `prefix` before every key. Stores with different prefixes share nothing.
    ///
    /// # Errors
    /// *Invalid* where `prefix` holds a brace.
    pub fn with_prefix(self, prefix: &str) -> Result<Self, Error> {
        let keys = self.keys.with_prefix(prefix)?;
        Ok(Self { keys, ..self })
    }

    /// Gives out hash tags by `tags`. Stores that differ in this share nothing.
    #[must_use]
    pub fn with_hash_tags(self, tags: HashTags) -> Self {
        let keys = self.keys.with_tags(tags);
        Self { keys, ..self }
    }

    /// The key in Redis under which `budget` is kept: `prefix{tag}key`, where `tag` is 16
    /// hexadecimal digits and `key` is [`Budget::key`]. For operators and tests.
    pub fn redis_key(&self, budget: &Budget) -> Vec<u8> {
        self.keys.key(budget)
    }

    /// The connection.
    pub fn connection(&self) -> &C {
        &self.connection
    }
}

#[async_trait]
impl<C: ConnectionLike + Clone + Send + Sync> BudgetStore for RedisStore<C> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        request.check(&self.capabilities(), self)?;
        let charge = &request.charges()[0];
        let budget = charge.budget();
        let length = budget.policy().rule().length();
        let limit = budget.policy().limit();
        let arguments = [limit.get(), charge.cost().get(), length.as_millis()];
        let reply = script::ACQUIRE
            .run(self.connection.clone(), &self.keys.key(budget), &arguments)
            .await
            .map_err(acquire_error)?;
        answer::decision(charge, &reply)
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.capabilities().check(budget.policy(), self)?;
        let reply = script::PEEK
            .run(self.connection.clone(), &self.keys.key(budget), &[])
            .await
            .map_err(peek_error)?;
        answer::snapshot(budget, &reply)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::on_server()
    }
}

/// `RedisStore(limiter:)`, with the key prefix in the parentheses.
impl<C> fmt::Display for RedisStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisStore({})", self.keys.prefix())
    }
}

/// The connection is left out: not every connection can be shown, and some would show a password.
impl<C> fmt::Debug for RedisStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}
