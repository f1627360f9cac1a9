//! Denials that each worker remembers.

use std::num::NonZeroUsize;

use limiter_core::RememberingStore;

use super::atomic::{charges, store};
use crate::process::{Env, SimClock, SimConnection};
use crate::subject::{StoreSubject, Uses};

/// `limiter-redis`, and denials of it that each worker remembers.
pub(crate) fn remembered_denials() -> StoreSubject {
    let about = "limiter-redis; each worker remembers that a budget denies";
    StoreSubject::new("remembered-denials", about, remembering)
        .using(Uses {
            clock: true,
            ..Uses::SCRIPTS
        })
        .charging(charges)
        .keeping_state()
}

fn remembering(env: &Env) -> RememberingStore<limiter_redis::RedisStore<SimConnection>, SimClock> {
    RememberingStore::new(store(env), env.clock(), NonZeroUsize::MIN)
}
