//! Around the Redis store: combined calls and remembered denials admit what it admits, and no more.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use limiter_core::{Acquire, BudgetStore, Cost, Policy};
use limiter_redis::{CoalescingStore, Mixing, RedisStore};
use limiter_sim::{
    Attempt, Endpoint, Env, Fault, Outcome, Parameters, Program, Scenario, SimConnection, Subject,
    Uses,
};

use crate::support::{LOSSES, exhaust, scenario};

/// Four clients share a process, or two, or the process has one: as many as divide the workers. One
/// call is under way at a time, so the second of them waits, and the others are sent with it.
///
/// The driver sends for its clients, so what it charged and told nobody is not counted as waste.
#[derive(Clone, Copy, Debug)]
struct Coalescing;

impl Subject for Coalescing {
    fn name(&self) -> &str {
        "coalescing"
    }

    fn about(&self) -> &str {
        "limiter-redis, with the concurrent calls of each process combined into one script"
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        let connection = env.connect(Endpoint::Primary);
        let (store, driver) = CoalescingStore::new(RedisStore::new(connection), Mixing::AllKeys);
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
        Box::pin(async move {
            match store.acquire(&request).await {
                Ok(decision) if decision.is_admitted() => Outcome::Admitted,
                Ok(_) => Outcome::Denied,
                Err(_) => Outcome::Failed,
            }
        })
    }

    fn background(&mut self) -> Vec<Pin<Box<dyn Future<Output = ()> + Send>>> {
        self.driver.take().into_iter().collect()
    }
}

fn request(parameters: &Parameters) -> Acquire {
    let policy = Policy::named("simulated")
        .scope("simulation")
        .limit(parameters.limit)
        .first_arrival(Duration::from_millis(parameters.window_ms));
    Acquire::of(&policy.build().unwrap(), "budget", Cost::ONE)
}

fn combined(workers: usize) -> Scenario {
    Scenario::new(Arc::new(Coalescing)).workers(workers)
}

/// Workers, attempts, limit. Three and four workers share a process and its connection; six are two
/// such processes.
const SHARED: [(usize, u32, u64); 4] = [(3, 1, 1), (3, 1, 2), (4, 1, 2), (6, 1, 2)];

#[test]
fn combined_calls_admit_exactly_the_limit() {
    for (workers, attempts, limit) in SHARED {
        let sized = combined(workers);
        let found = exhaust(&sized.attempts(attempts).limit(limit));
        assert_eq!(found.max_admitted, limit, "{workers} {attempts} {limit}");
        assert!(!found.immortal && found.recovered);
    }
}

#[test]
fn combined_calls_admit_the_limit_once_per_loss() {
    for loss in LOSSES {
        let sized = combined(4).limit(1);
        let found = exhaust(&sized.fault(loss, 1));
        assert!(found.max_admitted <= 2, "{loss}: {found:?}");
        assert!(!found.immortal && found.recovered);
    }
    let lost = combined(4).limit(1);
    assert_eq!(exhaust(&lost.fault(Fault::Evict, 1)).max_admitted, 2);
}

#[test]
fn combined_calls_admit_the_limit_whatever_the_network_does() {
    for fault in [
        Fault::LostRequest,
        Fault::LostReply,
        Fault::LateReply,
        Fault::ScriptFlush,
    ] {
        let sized = combined(4).limit(2);
        let found = exhaust(&sized.fault(fault, 1));
        assert_eq!(found.max_admitted, 2, "{fault}");
    }
}

#[test]
fn remembered_denials_admit_the_limit_once_per_loss_also_over_the_end_of_a_window() {
    for (workers, attempts, limit) in [(2, 2, 1), (3, 2, 2)] {
        for loss in LOSSES {
            for times in 0..=1 {
                let sized = scenario("remembered-denials").workers(workers);
                let sized = sized.attempts(attempts).limit(limit).fault(loss, times);
                let alone = scenario("atomic-window").workers(workers);
                let alone = alone.attempts(attempts).limit(limit).fault(loss, times);
                let (found, alone) = (exhaust(&sized), exhaust(&alone));
                assert!(found.max_admitted <= alone.max_admitted, "{loss}");
                assert!(!found.immortal, "{loss}: {found:?}");
            }
        }
    }
    let sized = scenario("remembered-denials").workers(2).attempts(2);
    let found = exhaust(&sized.limit(1).time_steps(1));
    assert_eq!(
        (found.overspend, found.immortal, found.recovered),
        (0, false, true)
    );
}
