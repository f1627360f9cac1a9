//! limitador's storage on Redis: one script reads, another charges.

use std::collections::HashMap;

use limitador::limit::{Expression, Limit, Namespace};
use limitador::storage::AsyncStorage;
use limitador::storage::redis::AsyncRedisStorage;
use limitador::{AsyncRateLimiter, AsyncRateLimiterBuilder};

use crate::load::Limiter;

pub(crate) struct Limitador {
    limiter: AsyncRateLimiter,
    namespace: Namespace,
}

impl Limitador {
    pub(crate) async fn new(url: &str, limit: u32, window_s: u64) -> Self {
        let storage = AsyncRedisStorage::new(url).await;
        let storage = AsyncStorage::with_counter_storage(Box::new(storage.expect("a server")));
        let limiter = AsyncRateLimiterBuilder::new(storage).build();
        let account = Expression::parse("account").expect("an expression");
        limiter.add_limit(Limit::new("bench", limit.into(), window_s, [], [account]));
        Self {
            limiter,
            namespace: "bench".into(),
        }
    }
}

impl Limiter for Limitador {
    async fn admits(&self, account: &str) -> bool {
        let context = HashMap::from([("account".to_owned(), account.to_owned())]).into();
        let checked = self
            .limiter
            .check_rate_limited_and_update(&self.namespace, &context, 1);
        !checked.await.expect("a decision").limited
    }
}
