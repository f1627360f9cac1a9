//! Sixteen clients, each with a connection of its own, ask for a budget of five at once.

use std::sync::Arc;
use std::time::Duration;

use limiter_core::{BudgetStore, Decision};
use limiter_tests::{Server, on_every_server};
use redis::aio::MultiplexedConnection;
use tokio::sync::Barrier;

use crate::support::{MINUTE, budget, counter, key, one_of, store, wait};

const CLIENTS: usize = 16;
const LIMIT: u64 = 5;

/// Starts one task for each client, and returns what they return.
async fn clients<T, F>(server: &Server, client: impl Fn(MultiplexedConnection) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let mut tasks = Vec::new();
    for _ in 0..CLIENTS {
        tasks.push(tokio::spawn(client(server.connect().await)));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}

/// The way that is not atomic: read, compare, increment; the first one sets the deadline.
async fn split(mut link: MultiplexedConnection, all_have_read: Arc<Barrier>) -> bool {
    let count: Option<u64> = redis::cmd("GET")
        .arg("split")
        .query_async(&mut link)
        .await
        .unwrap();
    all_have_read.wait().await;
    if count.unwrap_or(0) >= LIMIT {
        return false;
    }
    let total: u64 = redis::cmd("INCR")
        .arg("split")
        .query_async(&mut link)
        .await
        .unwrap();
    if total == 1 {
        let mut expire = redis::cmd("PEXPIRE");
        expire
            .arg("split")
            .arg(60_000)
            .exec_async(&mut link)
            .await
            .unwrap();
    }
    true
}

#[test]
fn split_check_and_update_admits_all_sixteen_when_all_read_first() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let barrier = Arc::new(Barrier::new(CLIENTS));
        let outcomes = clients(&server, |link| split(link, Arc::clone(&barrier))).await;
        assert_eq!(
            outcomes.iter().filter(|admitted| **admitted).count(),
            CLIENTS
        );
        let stored: u64 = redis::cmd("GET")
            .arg("split")
            .query(&mut server.admin())
            .unwrap();
        assert_eq!(stored, 16);
    });
}

#[test]
fn the_atomic_store_admits_exactly_five_of_sixteen_and_reports_each_total_once() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let barrier = Arc::new(Barrier::new(CLIENTS));
        let decisions = clients(&server, |link| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                let store = limiter_redis::RedisStore::new(link);
                store.acquire(&one_of(&budget(LIMIT))).await.unwrap()
            }
        })
        .await;
        // A window contains its first and its last millisecond, so it is over one later.
        let whole = MINUTE + Duration::from_millis(1);
        let mut totals = Vec::new();
        for decision in decisions {
            match decision {
                Decision::Admitted(admission) => {
                    let grant = &admission.grants()[0];
                    assert_eq!(grant.remaining, LIMIT - grant.total);
                    assert!(Duration::ZERO < grant.resets_in && grant.resets_in <= whole);
                    totals.push(grant.total);
                }
                Decision::Denied(denial) => {
                    assert_eq!(denial.refusals()[0].remaining, 0);
                    assert!(Duration::ZERO < wait(&denial) && wait(&denial) <= whole);
                }
            }
        }
        totals.sort_unstable();
        assert_eq!(totals, [1, 2, 3, 4, 5]);
        assert_eq!(counter(&server, &budget(LIMIT)), LIMIT);
        let mut pttl = redis::cmd("PTTL");
        let ttl_ms: i64 = pttl
            .arg(key(&budget(LIMIT)))
            .query(&mut server.admin())
            .unwrap();
        assert!((1..=60_000).contains(&ttl_ms), "{ttl_ms}");
    });
}

#[test]
fn clients_that_share_one_connection_are_told_apart_too() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let shared = store(&server).await;
        let tasks: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let store = shared.clone();
                tokio::spawn(async move { store.acquire(&one_of(&budget(LIMIT))).await.unwrap() })
            })
            .collect();
        let mut totals = Vec::new();
        for task in tasks {
            let admission = task.await.unwrap().admitted();
            totals.extend(admission.map(|admission| admission.grants()[0].total));
        }
        totals.sort_unstable();
        assert_eq!(totals, [1, 2, 3, 4, 5]);
    });
}
