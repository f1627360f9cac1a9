//! axum-limit's fixed window on Redis: an optimistic transaction, with the one connection locked.

use std::time::{SystemTime, UNIX_EPOCH};

use axum_limit::{
    BackendError, FixedWindowPolicy, Quota, RateLimitBackend, RedisBackend, build_storage_key,
};

use crate::load::Limiter;

pub(crate) struct AxumLimit {
    backend: RedisBackend,
    quota: Quota,
}

impl AxumLimit {
    pub(crate) async fn new(url: &str, limit: u32, window_s: u64) -> Self {
        let backend = RedisBackend::connect(url).await;
        Self {
            backend: backend.expect("a server"),
            quota: Quota::new(limit as usize, window_s * 1000),
        }
    }
}

impl Limiter for AxumLimit {
    async fn admits(&self, account: &str) -> bool {
        let key = build_storage_key::<FixedWindowPolicy>("axum-limit", account, self.quota);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now_ms = now.expect("a clock after 1970").as_millis() as u64;
        let decided = self
            .backend
            .transact::<FixedWindowPolicy>(&key, self.quota, now_ms);
        match decided.await {
            Ok(snapshot) => snapshot.allowed,
            // It gave up: nothing was charged.
            Err(BackendError::Contention) => false,
            Err(error) => panic!("axum-limit: {error}"),
        }
    }
}
