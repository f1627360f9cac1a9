//! Combined calls get the answers that the same calls get one after the other.

use std::time::Duration;

use limiter_core::{Acquire, BudgetStore, Decision, Error, ManualClock, Timestamp};
use limiter_redis::{Mixing, RedisStore};
use proptest::prelude::*;

use super::{coalescing, request};
use crate::helpers::{MINUTE, policy};
use crate::model::Model;
use crate::server::Server;

/// Who, which limit, which cost.
type Asked = (usize, usize, u64);

const LIMITS: [u64; 3] = [0, 7, 20];

/// Few budgets that are asked for much, or many that are asked the same.
fn asked() -> impl Strategy<Value = Vec<Asked>> {
    prop_oneof![
        prop::collection::vec((0..6_usize, 0..LIMITS.len(), 1..9_u64), 1..120),
        prop::collection::vec((0..60_usize, 1..LIMITS.len(), Just(3)), 1..120),
    ]
}

const LENGTH: Duration = Duration::from_millis(100);

/// Every other budget has windows that are half as long.
fn requests(asked: &[Asked], length: Duration) -> Vec<Acquire> {
    let requests = asked.iter().map(|(who, limit, cost)| {
        let length = if who % 2 == 0 { length } else { length / 2 };
        request(&policy(LIMITS[*limit], length), &who.to_string(), *cost)
    });
    requests.collect()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
}

fn text(answer: &Result<Decision, Error>) -> String {
    match answer {
        Ok(decision) => format!("{decision:?}"),
        Err(error) => error.to_string(),
    }
}

/// State that no script writes: a counter without a deadline.
async fn damage(store: &RedisStore<Model>, who: usize) {
    let budget = requests(&[(who, 0, 1)], LENGTH)[0].charges()[0].clone();
    let mut set = redis::cmd("SET");
    set.arg(store.redis_key(budget.budget()))
        .arg(1)
        .arg("KEEPTTL");
    let planted: redis::RedisResult<()> = set.query_async(&mut store.connection().clone()).await;
    planted.unwrap();
}

async fn check_model(rounds: Vec<(Vec<Asked>, u64)>, damaged: Option<usize>, mixing: Mixing) {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let combined = Model::on(clock.clone());
    let single = RedisStore::new(Model::on(clock.clone()));
    let (gate, store) = coalescing(combined.clone(), mixing);
    if let Some(who) = damaged {
        damage(&single, who).await;
        damage(&RedisStore::new(combined.clone()), who).await;
    }
    for (asked, wait_ms) in rounds {
        let requests = requests(&asked, LENGTH);
        let answers = gate.gather(&store, &requests).await;
        for (request, answer) in requests.iter().zip(&answers) {
            assert_eq!(text(answer), text(&single.acquire(request).await));
        }
        clock.advance(Duration::from_millis(wait_ms));
        assert_eq!(combined.deadlines(), single.connection().deadlines());
    }
}

/// What does not depend on the instant.
fn timeless(answer: &Result<Decision, Error>) -> (bool, u64, bool) {
    match answer.as_ref().unwrap() {
        Decision::Admitted(admission) => (true, admission.grants()[0].total, false),
        Decision::Denied(denial) => {
            let wait = denial.wait().duration();
            (false, denial.refusals()[0].remaining, wait.is_none())
        }
    }
}

async fn check_real(server: &Server, asked: &[Asked], scope: &str) {
    let connection = server.connection().await;
    let (gate, store) = coalescing(connection.clone(), Mixing::AllKeys);
    let single = RedisStore::new(connection)
        .with_prefix(&format!("{scope}:"))
        .unwrap();
    let _: () = server.run("FLUSHALL").await;
    let requests = requests(asked, MINUTE);
    let answers = gate.gather(&store, &requests).await;
    for (request, answer) in requests.iter().zip(&answers) {
        assert_eq!(timeless(answer), timeless(&single.acquire(request).await));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_the_model_to_the_millisecond(
        rounds in prop::collection::vec((asked(), 0..120_u64), 1..5),
        damaged in prop::option::of(0..6_usize),
        per_tag in any::<bool>(),
    ) {
        let mixing = if per_tag { Mixing::PerHashTag } else { Mixing::AllKeys };
        runtime().block_on(check_model(rounds, damaged, mixing));
    }
}

#[test]
fn on_a_real_server_but_for_time() {
    let server = Server::start();
    let config = ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(asked in asked())| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(check_real(&server, &asked, "single"));
    });
}
