//! Calls that are combined are decided as if they were not.

mod equal;
mod faults;
mod gate;
mod limits;

use futures_util::future::join_all;
use limiter_core::conformance::{Manual, Real, check};
use limiter_core::{Acquire, Cost, Decision, Error, ManualClock, Policy, Timestamp, TokioTimer};
use limiter_redis::{CoalescingStore, HashTags, Mixing, RedisStore};
use redis::aio::{ConnectionLike, MultiplexedConnection};

use crate::helpers::{MINUTE, policy};
use crate::model::Model;
use crate::server::Server;
use gate::Gate;

/// Calls that are sent by themselves before others wait.
const ALONE: usize = 8;

/// A store behind a gate, and its driver, which runs.
fn coalescing<C>(connection: C, mixing: Mixing) -> (Gate<C>, CoalescingStore<Gate<C>>)
where
    C: ConnectionLike + Clone + Send + Sync + 'static,
{
    let gate = Gate::before(connection);
    let (store, driver) = CoalescingStore::new(RedisStore::new(gate.clone()), mixing);
    tokio::spawn(driver);
    (gate, store)
}

async fn on(
    server: &Server,
) -> (
    Gate<MultiplexedConnection>,
    CoalescingStore<Gate<MultiplexedConnection>>,
) {
    coalescing(server.connection().await, Mixing::AllKeys)
}

fn request(policy: &Policy, identity: &str, cost: u64) -> Acquire {
    Acquire::of(policy, identity, Cost::new(cost).unwrap())
}

/// As many requests for a budget that nothing else is asked of: they are sent by themselves.
fn ahead() -> Vec<Acquire> {
    vec![request(&policy(100, MINUTE), "ahead", 1); ALONE]
}

/// The total of each admission, 0 for a denial.
fn totals(answers: &[Result<Decision, Error>]) -> Vec<u64> {
    let totals = answers
        .iter()
        .map(|answer| match answer.as_ref().expect("an answer") {
            Decision::Admitted(admission) => admission.grants()[0].total,
            Decision::Denied(_) => 0,
        });
    totals.collect()
}

/// Checks how often commands ran.
async fn ran(server: &Server, expected: [&str; 5]) {
    let info: String = server.run("INFO commandstats").await;
    for expected in expected {
        let (name, calls) = expected.split_once(' ').unwrap();
        let start = format!("cmdstat_{name}:calls=");
        let line = info.lines().find_map(|line| line.strip_prefix(&start));
        let found = line.map_or("0", |line| line.split(',').next().unwrap());
        assert_eq!(found, calls, "{name}");
    }
}

#[tokio::test]
async fn calls_that_wait_are_sent_together_and_a_budget_is_read_and_written_once() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(5, MINUTE);
    let mut requests = ahead();
    requests.extend(["alice", "bob", "alice", "carol"].map(|who| request(&policy, who, 2)));
    requests.push(request(&policy, "alice", 1));
    // So that no script has to be loaded, and the server knows how to count.
    gate.gather(&store, &requests).await;
    let _: () = server.run("FLUSHALL").await;
    let _: () = server.run("CONFIG RESETSTAT").await;
    gate.sent();
    let answers = gate.gather(&store, &requests).await;
    assert_eq!(totals(&answers)[ALONE..], [2, 2, 4, 2, 5]);
    let sent = gate.sent();
    assert_eq!(sent.len(), ALONE + 1, "{sent:?}");
    assert_eq!(sent[ALONE].keys, 3);
    // Eight alone: a SET, then seven of GET, PTTL, INCRBY. Together: MGET, and three of GET and SET.
    ran(&server, ["get 11", "mget 1", "set 4", "pttl 7", "incrby 7"]).await;
    // Alone as before. Together three windows are open, and one has no room.
    let _: () = server.run("CONFIG RESETSTAT").await;
    let answers = gate.gather(&store, &requests).await;
    assert_eq!(totals(&answers)[ALONE..], [0, 4, 0, 4, 0]);
    ran(
        &server,
        ["get 8", "mget 1", "set 0", "pttl 11", "incrby 10"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_512_callers_at_once_exactly_the_limit_is_admitted_each_with_its_own_total() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(300, MINUTE);
    let tasks = (0..512).map(|_| {
        let (store, policy) = (store.clone(), policy.clone());
        tokio::spawn(async move {
            limiter_core::BudgetStore::acquire(&store, &request(&policy, "hot", 1)).await
        })
    });
    let answers: Vec<_> = join_all(tasks)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let mut totals = totals(&answers);
    totals.sort_unstable();
    let expected = std::iter::repeat_n(0, 212).chain(1..=300);
    assert_eq!(totals, expected.collect::<Vec<_>>());
    let sent = gate.sent().len();
    assert!(sent < 256, "{sent} requests for 512 decisions");
}

#[tokio::test]
async fn the_order_of_the_calls_is_the_order_of_the_totals() {
    let server = Server::start();
    for mixing in [Mixing::AllKeys, Mixing::PerHashTag] {
        let (gate, store) = coalescing(server.connection().await, mixing);
        let policy = policy(1000, MINUTE);
        let requests = vec![request(&policy, &format!("{mixing:?}"), 1); 300];
        gate.gather(&store, &vec![request(&policy, "loads the scripts", 1); 10])
            .await;
        let answers = gate.gather(&store, &requests).await;
        assert_eq!(totals(&answers), (1..=300).collect::<Vec<u64>>());
    }
}

#[tokio::test]
async fn a_real_server_behind_it_keeps_every_clause() {
    let server = Server::start();
    let store = server
        .builder()
        .hash_tags(HashTags::Partitions(std::num::NonZeroU16::MIN));
    let (store, driver) = CoalescingStore::new(store.connect().await.unwrap(), Mixing::AllKeys);
    let driver = tokio::spawn(driver);
    let report = check(&store, &Real(TokioTimer::default()), "coalescing").await;
    assert!(report.passed(), "{report}");
    drop(store);
    driver.await.expect("the driver ends with its store");
}

#[tokio::test]
async fn a_modelled_server_behind_it_keeps_every_clause() {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let store = RedisStore::new(Model::on(clock.clone()));
    let store = store.with_hash_tags(HashTags::Partitions(std::num::NonZeroU16::MIN));
    let (store, driver) = CoalescingStore::new(store, Mixing::PerHashTag);
    tokio::spawn(driver);
    let report = check(&store, &Manual(clock), "coalescing").await;
    assert!(report.passed(), "{report}");
}
