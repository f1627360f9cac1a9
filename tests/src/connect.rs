//! Connections to a server that runs.

use std::time::Duration;

use redis::{
    AsyncConnectionConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo,
};

use crate::Server;

/// How long to wait for a connection or an answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

impl Server {
    /// How to connect to it by its Unix socket, with the login of its setup.
    pub fn connection_info(&self) -> ConnectionInfo {
        self.login(ConnectionAddr::Unix(self.socket()))
    }

    /// How to connect to it by TCP, with the login of its setup.
    ///
    /// # Panics
    /// Where it does not listen on TCP.
    pub fn tcp_connection_info(&self) -> ConnectionInfo {
        let port = self.port().expect("a server that listens on TCP");
        self.login(ConnectionAddr::Tcp("127.0.0.1".to_owned(), port))
    }

    /// A blocking connection of the test's own, to look and to meddle.
    ///
    /// # Panics
    /// Where there is none to be had.
    pub fn admin(&self) -> redis::Connection {
        self.client()
            .get_connection()
            .unwrap_or_else(|error| panic!("no connection to {}: {error}", self.program()))
    }

    /// Whether a section of its INFO has `text` in it; false where it does not answer.
    pub fn says(&self, section: &str, text: &str) -> bool {
        let Ok(mut connection) = self.client().get_connection() else {
            return false;
        };
        let info: Result<String, _> = redis::cmd("INFO").arg(section).query(&mut connection);
        info.is_ok_and(|info| info.contains(text))
    }

    /// A connection of its own, of the kind that clients use. It waits long for an answer, so that
    /// a busy machine fails no test.
    ///
    /// # Panics
    /// Where there is none to be had.
    pub async fn connect(&self) -> redis::aio::MultiplexedConnection {
        let patient = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(PATIENCE))
            .set_response_timeout(Some(PATIENCE));
        self.client()
            .get_multiplexed_async_connection_with_config(&patient)
            .await
            .unwrap_or_else(|error| panic!("no connection to {}: {error}", self.program()))
    }

    /// A client of its Unix socket.
    ///
    /// # Panics
    /// Never: the address is a valid one.
    pub fn client(&self) -> redis::Client {
        redis::Client::open(self.connection_info()).expect("a valid address")
    }

    fn login(&self, address: ConnectionAddr) -> ConnectionInfo {
        let info = address.into_connection_info().expect("a valid address");
        match &self.setup.login {
            None => info,
            Some((user, password)) => info.set_redis_settings(
                RedisConnectionInfo::default()
                    .set_username(user)
                    .set_password(password),
            ),
        }
    }
}
