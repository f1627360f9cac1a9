//! The ordinary ways to connect.

#[cfg(feature = "cluster")]
mod cluster;
mod sentinels;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use limiter_core::Error;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ErrorKind as RedisKind,
    IntoConnectionInfo, RedisConnectionInfo, RedisError,
};

use crate::key::{DEFAULT_PREFIX, HashTags};
use crate::{ReconnectingConnection, RedisStore};

/// How to reach a server, and how long to wait for it.
///
/// Every way to connect needs a tokio runtime, and none of them sends a request a second time of
/// its own accord.
///
/// ```no_run
/// # async fn example() -> Result<(), limiter_core::Error> {
/// use std::time::Duration;
/// use limiter_redis::RedisStoreBuilder;
///
/// let store = RedisStoreBuilder::url("redis://:secret@redis.internal/0")
///     .key_prefix("shop:limits:")
///     .response_deadline(Duration::from_millis(100))
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RedisStoreBuilder {
    server: Server,
    seeds: Vec<Server>,
    primary_login: RedisConnectionInfo,
    prefix: String,
    tags: HashTags,
    connect_deadline: Duration,
    response_deadline: Duration,
}

#[derive(Clone)]
enum Server {
    Url(String),
    UnixSocket(PathBuf),
}

impl RedisStoreBuilder {
    /// How long to wait for a connection unless told otherwise: 1 s.
    pub const DEFAULT_CONNECT_DEADLINE: Duration = Duration::from_secs(1);

    /// How long to wait for a reply unless told otherwise: 500 ms.
    pub const DEFAULT_RESPONSE_DEADLINE: Duration = Duration::from_millis(500);

    /// The server at `url`: `redis://[user][:password@]host[:port][/database]`, `rediss://…` for
    /// TLS (feature `tls-rustls`), or `unix:///path[?db=…&user=…&pass=…]`. It is checked when the
    /// store connects.
    pub fn url(url: impl Into<String>) -> Self {
        Self::of(Server::Url(url.into()))
    }

    /// The server that listens on the Unix socket at `path`.
    pub fn unix_socket(path: impl Into<PathBuf>) -> Self {
        Self::of(Server::UnixSocket(path.into()))
    }

    fn of(server: Server) -> Self {
        Self {
            server,
            seeds: Vec::new(),
            primary_login: RedisConnectionInfo::default(),
            prefix: DEFAULT_PREFIX.to_owned(),
            tags: HashTags::default(),
            connect_deadline: Self::DEFAULT_CONNECT_DEADLINE,
            response_deadline: Self::DEFAULT_RESPONSE_DEADLINE,
        }
    }

    /// Another node of the cluster, or another sentinel, to ask where the first one does not answer.
    #[must_use]
    pub fn seed(mut self, url: impl Into<String>) -> Self {
        self.seeds.push(Server::Url(url.into()));
        self
    }

    /// Goes before every key; [`DEFAULT_PREFIX`] unless given. Braces are not allowed.
    #[must_use]
    pub fn key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// How hash tags are given out.
    #[must_use]
    pub fn hash_tags(mut self, tags: HashTags) -> Self {
        self.tags = tags;
        self
    }

    /// The longest wait for a connection, name resolution and log-in included. A call that is over
    /// it was not sent: *unavailable*. (In a cluster nobody can know: *uncertain*.)
    #[must_use]
    pub fn connect_deadline(mut self, deadline: Duration) -> Self {
        self.connect_deadline = deadline;
        self
    }

    /// The longest wait for the reply to one request. A call that is over it may have been charged:
    /// *uncertain*. A call is one request, and two where the server does not know the script.
    #[must_use]
    pub fn response_deadline(mut self, deadline: Duration) -> Self {
        self.response_deadline = deadline;
        self
    }

    /// Connects now, and again after the connection broke: the ordinary choice.
    ///
    /// # Errors
    /// *Invalid* for a prefix with a brace and an address that cannot be one; *unavailable* where
    /// the server cannot be reached.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect(self) -> Result<RedisStore<ReconnectingConnection>, Error> {
        let store = self.connect_lazily()?;
        store.connection().connect().await.map_err(unreachable)?;
        Ok(store)
    }

    /// As [`connect`](Self::connect), but connects with the first call. Sends nothing, and starts
    /// also while the server is away.
    ///
    /// # Errors
    /// *Invalid* for a prefix with a brace and an address that cannot be one.
    pub fn connect_lazily(self) -> Result<RedisStore<ReconnectingConnection>, Error> {
        let connection = ReconnectingConnection::new(self.client()?, self.config());
        self.store(connection)
    }

    /// Connects now, once: after the connection broke, every call is an error.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect_once(self) -> Result<RedisStore<MultiplexedConnection>, Error> {
        let connection = self
            .client()?
            .get_multiplexed_async_connection_with_config(&self.config())
            .await
            .map_err(unreachable)?;
        self.store(connection)
    }

    fn store<C>(&self, connection: C) -> Result<RedisStore<C>, Error> {
        let store = RedisStore::new(connection).with_hash_tags(self.tags);
        store.with_prefix(&self.prefix)
    }

    fn config(&self) -> AsyncConnectionConfig {
        AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.connect_deadline))
            .set_response_timeout(Some(self.response_deadline))
    }

    fn client(&self) -> Result<Client, Error> {
        Client::open(self.server.address()?).map_err(unreachable)
    }

    /// The server and the seeds, in the order in which they were given.
    fn addresses(&self) -> Result<Vec<ConnectionInfo>, Error> {
        std::iter::once(&self.server)
            .chain(&self.seeds)
            .map(Server::address)
            .collect()
    }
}

impl Server {
    fn address(&self) -> Result<ConnectionInfo, Error> {
        #[cfg(feature = "tls-rustls")]
        crate::tls::provide_cryptography();
        match self {
            Self::Url(url) => url.as_str().into_connection_info(),
            Self::UnixSocket(path) => ConnectionAddr::Unix(path.clone()).into_connection_info(),
        }
        .map_err(unreachable)
    }
}

/// While a store connects nothing is sent, so whatever happens, nothing was charged.
fn unreachable(error: RedisError) -> Error {
    let connecting = match error.kind() {
        RedisKind::InvalidClientConfig => Error::invalid(error.to_string()),
        _ => Error::unavailable(error.to_string()),
    };
    connecting.with_source(error)
}

/// Addresses hold passwords.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(_) => f.write_str("Url(..)"),
            Self::UnixSocket(path) => write!(f, "UnixSocket({})", path.display()),
        }
    }
}
