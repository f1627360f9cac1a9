//! What is admitted, denied and reported.

use std::time::Duration;

use futures_util::future::join_all;
use limiter_core::{Acquire, Budget, BudgetStore, Cost, Decision, Wait};
use limiter_core::{Identity, MAX_UNITS};

use crate::helpers::{MINUTE, ask, granted, key, policy, refused, stored};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_connections_share_a_budget_of_five_exactly() {
    let server = Server::start();
    let policy = policy(5, MINUTE);
    let stores = join_all((0..16).map(|_| server.store())).await;
    let calls = stores.iter().map(|store| ask(store, &policy, "alice", 1));
    let mut totals = Vec::new();
    for decision in join_all(calls).await {
        match decision.unwrap() {
            Decision::Admitted(admission) => {
                let grant = &admission.grants()[0];
                assert_eq!(grant.remaining, 5 - grant.total);
                assert!(grant.resets_in <= MINUTE + Duration::from_millis(1));
                totals.push(grant.total);
            }
            Decision::Denied(denial) => {
                assert_eq!(denial.refusals()[0].remaining, 0);
                let wait = denial.wait().duration().expect("not never");
                assert!(wait <= MINUTE + Duration::from_millis(1), "{wait:?}");
            }
        }
    }
    totals.sort_unstable();
    assert_eq!(totals, [1, 2, 3, 4, 5]);
    let key = key(&server, &policy, "alice").await;
    assert_eq!(server.run::<String>(&format!("GET {key}")).await, "5");
    let left_ms: i64 = server.run(&format!("PTTL {key}")).await;
    assert!((1..=60_000).contains(&left_ms), "{left_ms}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_total_is_reported_once_whatever_the_costs() {
    let server = Server::start();
    let policy = policy(1000, MINUTE);
    let stores = join_all((0..16).map(|_| server.store())).await;
    let calls = (0..1600_u64).map(|call| {
        let (store, policy, cost) = (&stores[(call % 16) as usize], &policy, call % 3 + 1);
        async move { (cost, ask(store, policy, "alice", cost).await.unwrap()) }
    });
    let mut charged = Vec::new();
    for (cost, decision) in join_all(calls).await {
        if let Some(admission) = decision.admitted() {
            let total = admission.grants()[0].total;
            charged.push((total - cost, total));
        }
    }
    // The charges lie side by side, without gap or overlap, from nothing to the limit.
    charged.sort_unstable();
    let mut reached = 0;
    for (before, after) in charged {
        assert_eq!(before, reached);
        reached = after;
    }
    assert_eq!(reached, 1000);
}

#[tokio::test]
async fn a_denial_changes_neither_count_nor_deadline_and_an_admission_only_the_count() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let key = key(&server, &policy, "alice").await;
    granted(ask(&store, &policy, "alice", 2).await);
    let (count, deadline) = stored(&server, &key).await;
    assert_eq!(count.as_deref(), Some("2"));
    for cost in [4, 5, 6, MAX_UNITS] {
        refused(ask(&store, &policy, "alice", cost).await);
    }
    assert_eq!(stored(&server, &key).await, (count, deadline));
    assert_eq!(granted(ask(&store, &policy, "alice", 3).await).total, 5);
    assert_eq!(stored(&server, &key).await, (Some("5".into()), deadline));
}

#[tokio::test]
async fn after_the_window_the_next_admission_is_the_first_of_a_new_one() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(2, MINUTE);
    let key = key(&server, &policy, "alice").await;
    granted(ask(&store, &policy, "alice", 2).await);
    let Wait::For(wait) = refused(ask(&store, &policy, "alice", 1).await).wait else {
        panic!("a cost within the limit can be admitted later");
    };
    assert!(wait <= MINUTE + Duration::from_millis(1) && wait > MINUTE / 2);
    // Time moves by moving the deadline into the past.
    let _: i64 = server.run(&format!("PEXPIREAT {key} 1")).await;
    assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, 1);
}

#[tokio::test]
async fn a_window_of_one_millisecond_really_ends() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(1, Duration::from_millis(1));
    let mut opened = 0;
    for _ in 0..200 {
        match ask(&store, &policy, "alice", 1).await.unwrap() {
            Decision::Admitted(_) => opened += 1,
            Decision::Denied(denial) => {
                let wait = denial.wait().duration().expect("not never");
                assert!((1..=2).contains(&wait.as_millis()), "{wait:?}");
                std::thread::sleep(wait);
            }
        }
    }
    assert!(opened > 10, "{opened}");
}

#[tokio::test]
async fn the_largest_numbers_are_exact() {
    let server = Server::start();
    let store = server.store().await;
    let longest = Duration::from_secs(366 * 24 * 3600);
    let policy = policy(MAX_UNITS, longest);
    let grant = granted(ask(&store, &policy, "alice", MAX_UNITS - 1).await);
    assert_eq!((grant.total, grant.remaining), (MAX_UNITS - 1, 1));
    assert_eq!(grant.resets_in, longest + Duration::from_millis(1));
    refused(ask(&store, &policy, "alice", 2).await);
    let grant = granted(ask(&store, &policy, "alice", 1).await);
    assert_eq!((grant.total, grant.remaining), (MAX_UNITS, 0));
    refused(ask(&store, &policy, "alice", MAX_UNITS).await);
    let grant = granted(ask(&store, &policy, "bob", MAX_UNITS).await);
    assert_eq!(grant.total, MAX_UNITS);
    let key = key(&server, &policy, "alice").await;
    let count = server.run::<String>(&format!("GET {key}")).await;
    assert_eq!(count, MAX_UNITS.to_string());
}

#[tokio::test]
async fn a_cost_above_the_limit_is_never_and_reports_what_is_there() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let refusal = refused(ask(&store, &policy, "alice", 6).await);
    assert_eq!((refusal.remaining, refusal.wait), (5, Wait::Never));
    granted(ask(&store, &policy, "alice", 2).await);
    let refusal = refused(ask(&store, &policy, "alice", 6).await);
    assert_eq!((refusal.remaining, refusal.wait), (3, Wait::Never));
    let nothing = policy
        .with_limit(limiter_core::Limit::new(0).unwrap())
        .unwrap();
    let refusal = refused(ask(&store, &nothing, "bob", 1).await);
    assert_eq!((refusal.remaining, refusal.wait), (0, Wait::Never));
    assert_eq!(server.run::<i64>("DBSIZE").await, 1);
}

#[tokio::test]
async fn a_changed_limit_holds_from_the_next_call() {
    let server = Server::start();
    let store = server.store().await;
    let five = policy(5, MINUTE);
    let three = policy(3, MINUTE);
    granted(ask(&store, &five, "alice", 4).await);
    let refusal = refused(ask(&store, &three, "alice", 1).await);
    assert_eq!(refusal.remaining, 0);
    assert!(refusal.wait < Wait::Never);
    let snapshot = store.peek(&Budget::of(&three, "alice")).await.unwrap();
    assert_eq!((snapshot.total, snapshot.remaining), (4, 0));
    assert_eq!(granted(ask(&store, &five, "alice", 1).await).total, 5);
}

#[tokio::test]
async fn any_bytes_are_an_identity_of_their_own() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(1, MINUTE);
    let long = vec![b'x'; 64 * 1024];
    let identities: [&[u8]; 9] = [
        b"",
        b"*",
        b"{}",
        b"}{",
        b"a:b",
        b"a\0b",
        b"a\r\nb",
        b"\xff\xfe",
        &long,
    ];
    for identity in identities {
        granted(ask(&store, &policy, Identity::from(identity), 1).await);
        refused(ask(&store, &policy, Identity::from(identity), 1).await);
    }
    let shared = Acquire::one(Budget::shared(&policy), Cost::ONE);
    assert_eq!(granted(store.acquire(&shared).await).total, 1);
    assert_eq!(server.run::<i64>("DBSIZE").await, 10);
}

#[tokio::test]
async fn a_peek_changes_nothing() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let budget = Budget::of(&policy, "alice");
    let empty = store.peek(&budget).await.unwrap();
    assert_eq!(
        (empty.total, empty.remaining, empty.resets_in),
        (0, 5, None)
    );
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
    granted(ask(&store, &policy, "alice", 2).await);
    let open = store.peek(&budget).await.unwrap();
    assert_eq!((open.total, open.remaining), (2, 3));
    assert!(
        open.resets_in
            .is_some_and(|over| over <= MINUTE + Duration::from_millis(1))
    );
}
