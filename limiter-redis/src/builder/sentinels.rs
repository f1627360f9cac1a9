//! Connecting to a primary that sentinels know.

use limiter_core::Error;
use redis::{Client, RedisConnectionInfo};

use super::{RedisStoreBuilder, unreachable};
use crate::sentinel::Sentinels;
use crate::{ReconnectingConnection, RedisStore};

impl RedisStoreBuilder {
    /// The user and password for the primary that sentinels name; the user is `default` where a
    /// server has a password only. Where no sentinels are asked, the login is part of the URL.
    #[must_use]
    pub fn primary_login(mut self, user: &str, password: &str) -> Self {
        self.primary_login = RedisConnectionInfo::default()
            .set_username(user)
            .set_password(password);
        self
    }

    /// Connects to the primary called `name`. The server and the [seeds](Self::seed) are sentinels;
    /// the first one that knows that name is believed. They are asked again each time that the
    /// connection broke or the server answered READONLY: so the store outlives a failover, and
    /// calls are *unavailable* until there is a new primary. The primary is reached by TCP without
    /// TLS.
    ///
    /// Each sentinel that has to be asked may take the connect deadline and the response deadline
    /// together, before the same for the primary; where a shorter bound on a call is needed, wrap
    /// the store in a [`DeadlineStore`](limiter_core::DeadlineStore).
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect_by_sentinels(
        self,
        name: &str,
    ) -> Result<RedisStore<ReconnectingConnection>, Error> {
        let nodes = self.addresses()?.into_iter().map(Client::open);
        let sentinels = Sentinels {
            nodes: nodes.collect::<Result<_, _>>().map_err(unreachable)?,
            name: name.to_owned(),
            login: self.primary_login.clone(),
        };
        let connection = ReconnectingConnection::to_primary(sentinels, self.config());
        connection.connect().await.map_err(unreachable)?;
        self.store(connection)
    }
}
