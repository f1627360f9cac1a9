//! One multiplexed connection, replaced when it breaks.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisFuture, RedisResult, Value,
};

use crate::sentinel::Sentinels;

/// What opens a connection: to one server, or to whoever is the primary now.
type Opener = Box<dyn Fn() -> BoxFuture<'static, RedisResult<MultiplexedConnection>> + Send + Sync>;

/// Connects when it is first polled. Where all who wait for it are dropped it stands still.
type Link = Shared<BoxFuture<'static, RedisResult<MultiplexedConnection>>>;

/// One multiplexed connection that is replaced after it broke. Clones share it.
///
/// It never sends a request twice: the request that met the broken connection gets the error, and
/// the next one a new connection. It opens one connection at a time, when a request wants one, and
/// all requests that come meanwhile wait for that; it starts nothing in the background by itself.
/// So a request takes at most the connect deadline and the response deadline together.
///
/// It knows more than the connection manager of the `redis` crate tells: an error while connecting,
/// a time-out too, means that the request was not sent. Such errors have the kind
/// [`ErrorKind::Client`], and the store answers *unavailable*. And it tries again after every
/// failure to connect, also one that is no I/O error, such as a refused password.
///
/// A connection is replaced after an I/O error, an unreadable reply, a time-out (nobody knows
/// whether the other side is still there) and READONLY (the server was demoted, and its name may
/// lead to another one by now).
#[derive(Clone)]
pub struct ReconnectingConnection(Arc<Inner>);

struct Inner {
    opener: Opener,
    db: i64,
    link: Mutex<Link>,
}

impl ReconnectingConnection {
    /// Connects with `client` at the first request. Both deadlines are those of `config`.
    pub fn new(client: Client, config: AsyncConnectionConfig) -> Self {
        let db = client.get_connection_info().redis_settings().db();
        let opener = move || {
            let (client, config) = (client.clone(), config.clone());
            async move {
                client
                    .get_multiplexed_async_connection_with_config(&config)
                    .await
            }
            .boxed()
        };
        Self::opened_by(Box::new(opener), db)
    }

    /// Connects, at the first request, to the primary that `sentinels` name, and asks them again
    /// each time that a connection broke.
    pub(crate) fn to_primary(sentinels: Sentinels, config: AsyncConnectionConfig) -> Self {
        let db = sentinels.login.db();
        let opener = move || {
            let (sentinels, config) = (sentinels.clone(), config.clone());
            async move { sentinels.primary(&config).await }.boxed()
        };
        Self::opened_by(Box::new(opener), db)
    }

    fn opened_by(opener: Opener, db: i64) -> Self {
        let link = Mutex::new(opener().shared());
        Self(Arc::new(Inner { opener, db, link }))
    }

    /// Connects now, unless it is connected already.
    ///
    /// # Errors
    /// Why it could not, with the kind [`ErrorKind::Client`]. The next request tries again.
    ///
    /// # Panics
    /// Outside a tokio runtime, as every request does.
    pub async fn connect(&self) -> RedisResult<()> {
        self.connected().await.map(drop)
    }

    async fn connected(&self) -> RedisResult<(Link, MultiplexedConnection)> {
        let link = self.link().clone();
        match link.clone().await {
            Ok(connection) => Ok((link, connection)),
            Err(error) => {
                self.replace(&link);
                let detail = error.to_string();
                Err((ErrorKind::Client, "not sent: could not connect", detail).into())
            }
        }
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        // A link is only ever replaced whole, so a panic cannot have left half of one.
        self.0.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces `worn`, unless somebody else already has.
    fn replace(&self, worn: &Link) {
        let mut link = self.link();
        if link.ptr_eq(worn) {
            *link = (self.0.opener)().shared();
        }
    }
}

/// Whether the connection that gave this answer is of no more use.
fn is_worn(answer: &RedisResult<Value>) -> bool {
    match answer {
        Ok(Value::ServerError(error)) => is_readonly(error.code(), error.details()),
        Ok(_) => false,
        Err(error) => {
            error.is_unrecoverable_error()
                || error.is_timeout()
                || is_readonly(error.code().unwrap_or_default(), error.detail())
        }
    }
}

/// On 6.2 the code of an error inside a script is in its text only.
fn is_readonly(code: &str, detail: Option<&str>) -> bool {
    code == "READONLY" || detail.is_some_and(|text| text.contains("-READONLY "))
}

impl ConnectionLike for ReconnectingConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        async move {
            let (link, mut connection) = self.connected().await?;
            let answer = connection.req_packed_command(cmd).await;
            if is_worn(&answer) {
                self.replace(&link);
            }
            answer
        }
        .boxed()
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        async move {
            let (link, mut connection) = self.connected().await?;
            let answers = connection
                .req_packed_commands(pipeline, offset, count)
                .await;
            if matches!(&answers, Err(error) if is_worn(&Err(error.clone()))) {
                self.replace(&link);
            }
            answers
        }
        .boxed()
    }

    fn get_db(&self) -> i64 {
        self.0.db
    }
}

/// The address and the password are left out.
impl fmt::Debug for ReconnectingConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconnectingConnection")
            .finish_non_exhaustive()
    }
}
