//! Budgets in the memory of each worker.

use std::sync::Arc;

use limiter_core::{Acquire, BudgetStore};
use limiter_memory::MemoryStore;

use crate::fingerprint::Keyed;
use crate::process::{Attempt, Env, Program, SimClock};
use crate::scenario::Parameters;
use crate::subject::store::{request_with_limit, told};
use crate::subject::{StoreSubject, Subject, Uses};

/// `limiter-memory` in every worker, each with the whole limit.
pub(crate) fn memory_per_worker() -> StoreSubject {
    let about = "limiter-memory in every worker, each with the whole limit";
    StoreSubject::new("memory-per-worker", about, store)
        .broken("gives every worker the whole limit")
        .using(Uses::PROCESS)
        .keeping_state()
}

/// `limiter-memory` in every worker, each with its share of the limit.
pub(crate) fn memory_partitioned() -> Partitioned {
    Partitioned
}

pub(super) fn store(env: &Env) -> MemoryStore<SimClock, Keyed> {
    MemoryStore::builder()
        .clock(env.clock())
        .hasher(Keyed)
        .shards(2)
        .build()
        .expect("the settings are fixed")
}

/// The limit divided by the workers; the remainder goes to the first ones, one unit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partitioned;

impl Subject for Partitioned {
    fn name(&self) -> &str {
        "memory-partitioned"
    }

    fn about(&self) -> &str {
        "limiter-memory in every worker, each with its share: limit / workers, the remainder to the first"
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        Box::new(Worker {
            store: Arc::new(store(env)),
            request: request_with_limit(env.parameters(), env.class() as u64),
        })
    }

    fn keeps_state(&self) -> bool {
        true
    }

    fn unordered(&self) -> Option<&str> {
        Some("a worker denies when its own share is used up")
    }

    fn uses(&self) -> Uses {
        Uses::PROCESS
    }

    /// Workers differ in their shares: the class of each is its share.
    fn class(&self, worker: usize, parameters: &Parameters) -> usize {
        let (limit, workers) = (parameters.limit, parameters.workers as u64);
        let share = limit / workers + u64::from((worker as u64) < limit % workers);
        usize::try_from(share).expect("a limit fits a word")
    }
}

struct Worker {
    store: Arc<dyn BudgetStore>,
    request: Acquire,
}

impl Program for Worker {
    fn attempt(&mut self, _client: usize, _attempt: u32) -> Attempt {
        let store = Arc::clone(&self.store);
        let request = self.request.clone();
        Box::pin(async move { told(store.acquire(&request).await) })
    }
}
