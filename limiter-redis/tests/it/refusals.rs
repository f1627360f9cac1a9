//! What the server refuses, and what it leaves open.

use std::time::Duration;

use limiter_core::{Budget, BudgetStore, Error, ErrorKind, Policy};
use limiter_redis::RedisStoreBuilder;

use crate::helpers::{MINUTE, ask, granted, key, policy, refused, stored};
use crate::server::Server;

fn is_unavailable(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(!error.may_have_spent() && error.is_retryable());
}

/// Both a new and an open window are refused, and neither is charged.
async fn refuses_all(server: &Server, store: &impl BudgetStore, policy: &Policy) {
    for identity in ["known", "new"] {
        is_unavailable(&ask(store, policy, identity, 1).await.unwrap_err());
    }
    let key_of_new = key(server, policy, "new").await;
    assert_eq!(server.run::<i64>(&format!("EXISTS {key_of_new}")).await, 0);
    let key_of_known = key(server, policy, "known").await;
    assert_eq!(
        server.run::<String>(&format!("GET {key_of_known}")).await,
        "1"
    );
}

#[tokio::test]
async fn a_server_that_will_not_write_has_charged_nothing() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    granted(ask(&store, &policy, "known", 1).await);
    let states = [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        (
            "CONFIG SET min-replicas-to-write 1",
            "CONFIG SET min-replicas-to-write 0",
        ),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    ];
    for (on, off) in states {
        let _: () = server.run(on).await;
        refuses_all(&server, &store, &policy).await;
        let budget = Budget::of(&policy, "known");
        assert_eq!(store.peek(&budget).await.unwrap().total, 1, "{on}");
        let _: () = server.run(off).await;
    }
    assert_eq!(granted(ask(&store, &policy, "known", 1).await).total, 2);
}

#[tokio::test]
async fn a_replica_that_lost_its_primary_and_may_not_serve_refuses() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    granted(ask(&store, &policy, "known", 1).await);
    let _: () = server.run("CONFIG SET replica-serve-stale-data no").await;
    let _: () = server.run("REPLICAOF 127.0.0.1 1").await;
    is_unavailable(&ask(&store, &policy, "known", 1).await.unwrap_err());
    let known = Budget::of(&policy, "known");
    is_unavailable(&store.peek(&known).await.unwrap_err());
    let _: () = server.run("REPLICAOF NO ONE").await;
    assert_eq!(granted(ask(&store, &policy, "known", 1).await).total, 2);
}

#[tokio::test]
async fn a_user_who_may_not_run_a_command_is_refused_whole() {
    let server = Server::start();
    let policy = policy(5, MINUTE);
    let rules = [
        "",
        "+evalsha",
        "+evalsha +eval",
        "+evalsha +eval +get",
        "+evalsha +eval +set",
    ];
    for (number, rules) in rules.iter().enumerate() {
        let create = format!("ACL SETUSER user{number} on >secret ~* {rules}");
        let _: () = server.run(create.trim_end()).await;
        let url = format!(
            "unix://{}?user=user{number}&pass=secret",
            server.socket().display()
        );
        let store = RedisStoreBuilder::url(url).connect().await.unwrap();
        is_unavailable(&ask(&store, &policy, "alice", 1).await.unwrap_err());
        assert_eq!(server.run::<i64>("DBSIZE").await, 0, "{rules:?}");
    }
}

#[tokio::test]
async fn a_busy_server_refuses_and_a_killed_script_has_charged_nothing() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let _: () = server.run("CONFIG SET lua-time-limit 10").await;
    let mut looping = server.connection().await;
    let script = tokio::spawn(async move {
        let mut eval = redis::cmd("EVAL");
        eval.arg("while true do end").arg(0);
        eval.query_async::<redis::Value>(&mut looping).await
    });
    let mut refusals = 0;
    for _ in 0..200 {
        match ask(&store, &policy, "alice", 1).await {
            Err(error) => {
                is_unavailable(&error);
                refusals += 1;
            }
            Ok(_) => tokio::task::yield_now().await,
        }
        if refusals == 2 {
            break;
        }
    }
    assert_eq!(refusals, 2);
    let _: () = server.run("SCRIPT KILL").await;
    assert!(script.await.unwrap().is_err());
    let _ = ask(&store, &policy, "alice", 1).await.unwrap();
}

#[tokio::test]
async fn a_reply_that_comes_too_late_is_uncertain_and_the_charge_may_be_there() {
    let server = Server::start();
    let hasty = server
        .builder()
        .response_deadline(Duration::from_millis(50));
    // Not one that reconnects: that would hang up, and a server forgets what it had not run by then.
    let hasty = hasty.connect_once().await.unwrap();
    let patient = server.store().await;
    let policy = policy(1, MINUTE);
    granted(ask(&hasty, &policy, "alice", 1).await);
    let mut control = server.connection().await;
    let mut pause = redis::cmd("CLIENT");
    pause.arg("PAUSE").arg(400).arg("ALL");
    let _: () = pause.query_async(&mut control).await.unwrap();
    let error = ask(&hasty, &policy, "bob", 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Uncertain, "{error}");
    // The request was on its way, and the server runs it when it can.
    refused(ask(&patient, &policy, "bob", 1).await);
    let key = key(&server, &policy, "bob").await;
    assert_eq!(stored(&server, &key).await.0.as_deref(), Some("1"));
}
