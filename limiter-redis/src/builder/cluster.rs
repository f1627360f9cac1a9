//! Connecting to a cluster.

use limiter_core::Error;
use redis::cluster::ClusterClientBuilder;

use super::{RedisStoreBuilder, unreachable};
use crate::{RedirectingConnection, RedisStore};

impl RedisStoreBuilder {
    /// Connects to the cluster that the server belongs to. The response deadline holds for each
    /// request; following redirections makes up to ten of a call, so where a bound on the call is
    /// needed, wrap the store in a [`DeadlineStore`](limiter_core::DeadlineStore).
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect_cluster(self) -> Result<RedisStore<RedirectingConnection>, Error> {
        let cluster = ClusterClientBuilder::new(self.addresses()?)
            .retries(0)
            .connection_timeout(self.connect_deadline)
            .response_timeout(self.response_deadline)
            .overall_response_timeout(Some(self.response_deadline))
            .build()
            .map_err(unreachable)?
            .get_async_connection()
            .await
            .map_err(unreachable)?;
        self.store(RedirectingConnection::new(cluster))
    }
}
