//! Calls that are combined before they are sent.

use std::num::NonZeroUsize;
use std::pin::Pin;

use limiter_core::{Acquire, BudgetStore};
use limiter_redis::{CoalescingStore, Mixing};

use super::atomic::store;
use crate::process::{Attempt, Env, Program, SimConnection};
use crate::scenario::Parameters;
use crate::subject::store::{request, told};
use crate::subject::{Subject, Uses};

/// `limiter-redis`, with the concurrent calls of each process combined into one script.
///
/// Four clients share a process, or three, or two: as many as divide the workers. One call is under
/// way at a time, so those that come meanwhile wait, and are sent together.
///
/// The driver sends for all of them, so what it charged and told nobody is not counted as waste.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coalescing;

impl Subject for Coalescing {
    fn name(&self) -> &str {
        "coalescing"
    }

    fn about(&self) -> &str {
        "limiter-redis, with the concurrent calls of each process combined into one script; what that \
         charges and tells nobody is not counted as waste"
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        let (store, driver) = CoalescingStore::new(store(env), Mixing::AllKeys);
        Box::new(Clients {
            store: store.max_in_flight(NonZeroUsize::MIN),
            driver: Some(Box::pin(driver)),
            request: request(env.parameters()),
        })
    }

    fn clients_per_process(&self, parameters: &Parameters) -> usize {
        let divides = |clients: &usize| parameters.workers.is_multiple_of(*clients);
        [4, 3, 2].into_iter().find(divides).unwrap_or(1)
    }

    /// One is sent at once, and it takes two to be combined.
    fn at_once(&self) -> usize {
        3
    }

    fn uses(&self) -> Uses {
        Uses::SCRIPTS
    }
}

struct Clients {
    store: CoalescingStore<SimConnection>,
    driver: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    request: Acquire,
}

impl Program for Clients {
    fn attempt(&mut self, _client: usize, _attempt: u32) -> Attempt {
        let (store, request) = (self.store.clone(), self.request.clone());
        Box::pin(async move { told(store.acquire(&request).await) })
    }

    fn background(&mut self) -> Vec<Pin<Box<dyn Future<Output = ()> + Send>>> {
        self.driver.take().into_iter().collect()
    }
}
