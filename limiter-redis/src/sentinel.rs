//! Finding the primary through sentinels.

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ErrorKind, IntoConnectionInfo,
    RedisConnectionInfo, RedisError, RedisResult,
};

/// Who to ask for the primary, what it is called, and how to log in to it.
#[derive(Clone)]
pub(crate) struct Sentinels {
    pub(crate) nodes: Vec<Client>,
    pub(crate) name: String,
    pub(crate) login: RedisConnectionInfo,
}

impl Sentinels {
    /// Connects to the primary that the first sentinel names of those that answer. Each is asked
    /// anew, on a connection of its own: a failover is rare, and a kept connection would have to be
    /// looked after.
    ///
    /// A sentinel can name a server that is dead, or is no primary any more. The first refuses, the
    /// second answers READONLY, and either way the next request asks again.
    pub(crate) async fn primary(
        &self,
        config: &AsyncConnectionConfig,
    ) -> RedisResult<MultiplexedConnection> {
        let mut last = RedisError::from((ErrorKind::EmptySentinelList, "no sentinel was given"));
        for node in &self.nodes {
            match self.ask(node, config).await {
                Ok(address) => {
                    let info = address.into_connection_info()?;
                    let client = Client::open(info.set_redis_settings(self.login.clone()))?;
                    return client
                        .get_multiplexed_async_connection_with_config(config)
                        .await;
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn ask(
        &self,
        node: &Client,
        config: &AsyncConnectionConfig,
    ) -> RedisResult<ConnectionAddr> {
        let mut link = node
            .get_multiplexed_async_connection_with_config(config)
            .await?;
        let address: Option<(String, u16)> = redis::cmd("SENTINEL")
            .arg("GET-MASTER-ADDR-BY-NAME")
            .arg(&self.name)
            .query_async(&mut link)
            .await?;
        address
            .map(|(host, port)| ConnectionAddr::Tcp(host, port))
            .ok_or_else(|| {
                let text = "the sentinel knows no primary of this name";
                RedisError::from((ErrorKind::MasterNameNotFoundBySentinel, text))
            })
    }
}
