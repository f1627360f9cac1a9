//! How many states there are: a fingerprint that tells too little apart cuts the search in silence,
//! and one that tells too much apart makes it needlessly long.

use std::sync::Arc;

use limiter_sim::server::{Reply, Request};
use limiter_sim::{
    Client, Endpoint, Env, Exploration, Fault, Outcome, Parameters, Program, Scenario, Subject,
    Uses,
};
use redis::RedisResult;

use crate::support::{exhaust, explore, scenario, subject};

/// `GET`, compare, `INCR`: check and update with no deadline at all.
pub(crate) fn get_and_incr() -> Client {
    let about = "GET; compare; INCR";
    Client::new("get-and-incr", about, |env| async move {
        match acquire(&env).await {
            Ok(true) => Outcome::Admitted,
            Ok(false) => Outcome::Denied,
            Err(_) => Outcome::Failed,
        }
    })
}

async fn acquire(env: &Env) -> RedisResult<bool> {
    let mut connection = env.connect(Endpoint::Primary);
    let count: Option<u64> = redis::cmd("GET")
        .arg("n")
        .query_async(&mut connection)
        .await?;
    if count.unwrap_or(0) >= env.parameters().limit {
        return Ok(false);
    }
    redis::cmd("INCR")
        .arg("n")
        .exec_async(&mut connection)
        .await?;
    Ok(true)
}

fn states(limit: u64) -> u64 {
    let scenario = Scenario::new(Arc::new(get_and_incr()))
        .workers(16)
        .limit(limit);
    exhaust(&scenario).states
}

#[test]
fn sixteen_clients_of_get_and_incr_at_limit_8_have_109293_states() {
    assert_eq!(states(8), 109_293);
}

#[test]
fn sixteen_clients_of_get_and_incr_at_limit_1_have_833_states() {
    assert_eq!(states(1), 833);
}

/// A subject whose processes are all of different classes: nobody is taken for anybody else.
#[derive(Debug)]
struct Distinct(Arc<dyn Subject>);

impl Subject for Distinct {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn about(&self) -> &str {
        self.0.about()
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        self.0.process(env)
    }

    fn clients_per_process(&self, parameters: &Parameters) -> usize {
        self.0.clients_per_process(parameters)
    }

    fn keeps_state(&self) -> bool {
        self.0.keeps_state()
    }

    fn uses(&self) -> Uses {
        self.0.uses()
    }

    fn class(&self, worker: usize, _: &Parameters) -> usize {
        worker
    }

    fn charges(&self, request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
        self.0.charges(request, reply, parameters)
    }
}

#[test]
fn whether_workers_are_interchangeable_changes_no_figure() {
    let stores = [
        "split",
        "atomic-window",
        "watch-multi",
        "increment-then-expire",
        "set-nx-then-increment",
        "fail-open",
        "memory-per-worker",
    ];
    for store in stores {
        for (fault, times) in [
            (Fault::Evict, 1),
            (Fault::LostReply, 1),
            (Fault::ClientCrash, 1),
        ] {
            let faulty = |scenario: Scenario| {
                scenario
                    .workers(3)
                    .limit(1)
                    .fault(fault, times)
                    .time_steps(1)
            };
            let alike = explore(&faulty(scenario(store)));
            let distinct = explore(&faulty(Scenario::new(Arc::new(Distinct(subject(store))))));
            assert_eq!(figures(&alike), figures(&distinct), "{store} under {fault}");
            assert!(alike.states <= distinct.states, "{store} under {fault}");
        }
    }
}

fn figures(of: &Exploration) -> (&str, u64, u64, bool, bool, &[Fault]) {
    (
        of.verdict,
        of.max_admitted,
        of.waste,
        of.immortal,
        of.recovered,
        &of.vacuous,
    )
}
