//! Servers that die, forget, or stop answering.

use std::time::Duration;

use limiter_core::{BudgetStore, Clock, DeadlineStore, Error, ErrorKind, SystemClock, TokioTimer};
use limiter_redis::{RedisStore, RedisStoreBuilder};
use limiter_tests::{Persistence, Server, eventually, on_every_server};
use redis::AsyncConnectionConfig;
use redis::aio::ConnectionManagerConfig;

use crate::support::{admitted, budget, counter, denied, one_of, some_of, store, total};

const SOON: Duration = Duration::from_secs(20);
const DEADLINE: Duration = Duration::from_millis(200);

/// How much later than its deadline a call may be told, on a busy machine.
const LATE: Duration = Duration::from_secs(2);

#[test]
fn a_kill_under_load_loses_no_admission_under_append_always_and_errors_tell_the_truth() {
    on_every_server(async |program| {
        let setup = program.setup().persistence(Persistence::AppendAlways);
        let mut server = setup.start();
        let everything = budget(limiter_core::MAX_UNITS);
        let mut tasks = Vec::new();
        for _ in 0..8 {
            let (store, request) = (store(&server).await, one_of(&everything));
            tasks.push(tokio::spawn(async move {
                let mut count = 0;
                loop {
                    match store.acquire(&request).await {
                        Ok(decision) => count += u64::from(decision.is_admitted()),
                        Err(error) => return (count, error),
                    }
                }
            }));
        }
        eventually("there is load", SOON, async || {
            counter(&server, &everything) > 200
        })
        .await;
        server.kill();
        let (mut told, mut unknown) = (0, 0);
        for task in tasks {
            let (count, error) = task.await.unwrap();
            told += count;
            unknown += u64::from(error.may_have_spent());
            let kinds = [ErrorKind::Uncertain, ErrorKind::Unavailable];
            assert!(kinds.contains(&error.kind()), "{program}: {error}");
        }
        server.restart();
        let charged = counter(&server, &everything);
        assert!(
            told <= charged && charged <= told + unknown,
            "{program}: {told} admissions told, {unknown} uncertain, {charged} charged"
        );
    });
}

#[test]
fn a_script_cache_that_is_flushed_all_the_time_changes_no_answer() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let everything = budget(2000);
        let mut tasks = Vec::new();
        for _ in 0..4 {
            let (store, request) = (store(&server).await, one_of(&everything));
            tasks.push(tokio::spawn(async move {
                let mut totals = Vec::new();
                for _ in 0..500 {
                    totals.push(total(store.acquire(&request).await.unwrap()));
                }
                totals
            }));
        }
        let mut flushing = server.connect().await;
        while tasks.iter().any(|task| !task.is_finished()) {
            redis::cmd("SCRIPT")
                .arg("FLUSH")
                .exec_async(&mut flushing)
                .await
                .unwrap();
        }
        let mut totals = Vec::new();
        for task in tasks {
            totals.extend(task.await.unwrap());
        }
        totals.sort_unstable();
        assert!(
            totals.into_iter().eq(1..=2000),
            "{program}: each total once"
        );
        assert_eq!(counter(&server, &everything), 2000);
    });
}

async fn spent_after_a_crash(server: &mut Server) -> u64 {
    let budget = budget(5);
    let request = some_of(&budget, 5);
    let _ = admitted(store(server).await.acquire(&request).await.unwrap());
    let _ = denied(store(server).await.acquire(&one_of(&budget)).await.unwrap());
    server.kill();
    server.restart();
    store(server).await.peek(&budget).await.unwrap().total
}

#[test]
fn a_restart_without_persistence_forgets_the_window_and_admits_the_limit_again() {
    on_every_server(async |program| {
        let mut server = program.setup().start();
        assert_eq!(spent_after_a_crash(&mut server).await, 0, "{program}");
        let store = store(&server).await;
        assert_eq!(
            total(store.acquire(&some_of(&budget(5), 5)).await.unwrap()),
            5
        );
    });
}

#[test]
fn a_restart_with_an_append_only_file_keeps_the_window_and_its_deadline() {
    on_every_server(async |program| {
        let mut server = program
            .setup()
            .persistence(Persistence::AppendAlways)
            .start();
        assert_eq!(spent_after_a_crash(&mut server).await, 5, "{program}");
        let store = store(&server).await;
        let _ = denied(store.acquire(&one_of(&budget(5))).await.unwrap());
        let left = store.peek(&budget(5)).await.unwrap().resets_in.unwrap();
        assert!(left <= Duration::from_millis(60_001), "{program}: {left:?}");
    });
}

/// Asks a frozen server, and checks that the answer is *uncertain*, in time, and true: the request
/// had been sent, and is charged when the server goes on.
async fn ask_the_frozen(server: &Server, store: impl BudgetStore) {
    let budget = budget(5);
    // The script is known from here on, and the connection is there.
    let _ = admitted(store.acquire(&one_of(&budget)).await.unwrap());
    server.freeze();
    let clock = SystemClock::new();
    let start = clock.now();
    let error: Error = store.acquire(&one_of(&budget)).await.unwrap_err();
    let waited = Duration::from_millis(clock.now().millis_since(start));
    server.thaw();
    let program = server.program();
    assert_eq!(error.kind(), ErrorKind::Uncertain, "{program}: {error}");
    assert!(waited < DEADLINE + LATE, "{program}: {waited:?}");
    eventually("the lost answer was a charge", SOON, async || {
        counter(server, &budget) == 2
    })
    .await;
}

#[test]
fn a_frozen_server_is_uncertain_within_the_response_deadline_of_the_connection() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(DEADLINE));
        let client = server.client();
        let link = client
            .get_multiplexed_async_connection_with_config(&config)
            .await
            .unwrap();
        ask_the_frozen(&server, RedisStore::new(link)).await;
    });
}

#[test]
fn a_frozen_server_is_uncertain_within_the_deadline_of_a_deadline_store() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let patient = store(&server).await;
        let bounded = DeadlineStore::new(patient, TokioTimer::default(), DEADLINE);
        ask_the_frozen(&server, bounded).await;
    });
}

/// Kills the server and starts it again, with all data, under a `store` that stays as it is.
async fn outlives(server: &mut Server, store: impl BudgetStore) {
    let budget = budget(5);
    assert_eq!(total(store.acquire(&one_of(&budget)).await.unwrap()), 1);
    server.kill();
    for _ in 0..3 {
        let error = store.acquire(&one_of(&budget)).await.unwrap_err();
        let kinds = [ErrorKind::Uncertain, ErrorKind::Unavailable];
        assert!(kinds.contains(&error.kind()), "{error}");
    }
    server.restart();
    let mut second = None;
    eventually("an answer comes again", SOON, async || {
        second = store.acquire(&one_of(&budget)).await.ok();
        second.is_some()
    })
    .await;
    // The server was down when it was asked: nothing but the two answers was charged.
    assert_eq!(second.map(total), Some(2), "{}", server.program());
    assert_eq!(counter(server, &budget), 2);
}

#[test]
fn a_store_finds_the_restarted_server_without_a_restart_of_the_client() {
    on_every_server(async |program| {
        let setup = program.setup().persistence(Persistence::AppendAlways);
        let mut server = setup.start();
        let builder = RedisStoreBuilder::unix_socket(server.socket());
        let store = builder.response_deadline(SOON).connect().await.unwrap();
        outlives(&mut server, store).await;
    });
}

#[test]
fn a_store_on_a_connection_manager_finds_the_restarted_server_too() {
    on_every_server(async |program| {
        let setup = program.setup().persistence(Persistence::AppendAlways);
        let mut server = setup.start();
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(SOON))
            .set_max_delay(Duration::from_millis(20));
        let client = server.client();
        let manager = client.get_connection_manager_with_config(config);
        let store = RedisStore::new(manager.await.unwrap());
        outlives(&mut server, store).await;
    });
}
