//! The in-process store, on a clock that moves when it is told to.

use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{BudgetStore, ManualClock, Timestamp};
use limiter_memory::MemoryStore;

use super::answer::Answer;
use super::scenario::Request;

pub(super) struct InProcess {
    store: MemoryStore<ManualClock>,
    clock: ManualClock,
}

impl InProcess {
    pub(super) fn at(now: Timestamp) -> Self {
        let clock = ManualClock::at(now);
        let builder = MemoryStore::builder().capacity(16).shards(2);
        let store = builder.clock(clock.clone()).build().unwrap();
        Self { store, clock }
    }

    pub(super) fn pass(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }

    /// It decides at once, so nobody has to wait for its futures.
    pub(super) fn answer(&self, request: &Request) -> Answer {
        match request {
            Request::Acquire(request) => {
                let decision = self.store.acquire(request).now_or_never();
                decision.unwrap().unwrap().into()
            }
            Request::Peek(budget) => {
                let snapshot = self.store.peek(budget).now_or_never();
                snapshot.unwrap().unwrap().into()
            }
        }
    }
}
