//! The ways to connect, and what they do when the server goes away.

use std::time::Duration;

use limiter_core::{Budget, BudgetStore, ErrorKind};
use limiter_redis::{RedisStore, RedisStoreBuilder};

use crate::helpers::{MINUTE, ask, granted, policy};
use crate::server::Server;

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let policy = policy(1, MINUTE);
    let nowhere = || RedisStoreBuilder::unix_socket("/nowhere/socket");
    let refusing = || RedisStoreBuilder::url("redis://127.0.0.1:1");
    for builder in [nowhere(), refusing()] {
        let error = builder.clone().connect().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let error = builder.clone().connect_once().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        let store = builder.connect_lazily().unwrap();
        for _ in 0..3 {
            let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        }
    }
}

#[tokio::test]
async fn what_cannot_be_an_address_or_a_prefix_is_invalid() {
    for url in ["", "http://host", "redis://", "redis://host/database"] {
        let error = RedisStoreBuilder::url(url).connect_lazily().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{url:?}: {error}");
    }
    let builder = RedisStoreBuilder::url("redis://host").key_prefix("a{b}");
    let error = builder.connect_lazily().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

#[tokio::test]
async fn a_connect_that_takes_too_long_was_not_sent() {
    // A socket that accepts nobody: the kernel completes the connection, and no log-in is answered.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://:secret@{}", listener.local_addr().unwrap());
    let store = RedisStoreBuilder::url(url)
        .connect_deadline(Duration::from_millis(50))
        .connect_lazily()
        .unwrap();
    let policy = policy(1, MINUTE);
    for _ in 0..3 {
        let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
}

#[tokio::test]
async fn a_killed_server_costs_errors_of_the_right_kind_and_then_a_new_connection() {
    let mut server = Server::start();
    let store = server.store().await;
    let once = server.builder().connect_once().await.unwrap();
    let policy = policy(5, MINUTE);
    granted(ask(&store, &policy, "alice", 1).await);
    granted(ask(&once, &policy, "alice", 1).await);
    server.kill();
    // The dead connection: whether the request left before it broke, nobody knows.
    let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Uncertain, "{error}");
    // Then there is nobody to connect to.
    for _ in 0..3 {
        let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    server.restart();
    assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, 1);
    for _ in 0..2 {
        let error = ask(&once, &policy, "alice", 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Uncertain, "{error}");
    }
}

#[tokio::test]
async fn a_peek_that_lost_its_answer_is_known_to_have_charged_nothing() {
    let mut server = Server::start();
    let store = server.store().await;
    let budget = Budget::of(&policy(5, MINUTE), "alice");
    store.peek(&budget).await.unwrap();
    server.kill();
    for _ in 0..2 {
        let error = store.peek(&budget).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
}

#[tokio::test]
async fn a_refused_password_is_not_for_ever() {
    let server = Server::start();
    let url = format!("unix://{}?pass=secret", server.socket().display());
    let _: () = server.run("ACL SETUSER default resetpass >other").await;
    let store = RedisStoreBuilder::url(url).connect_lazily().unwrap();
    let policy = policy(5, MINUTE);
    let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let address = format!("unix://{}?pass=other", server.socket().display());
    let client = redis::Client::open(address).unwrap();
    let mut admin = client.get_multiplexed_async_connection().await.unwrap();
    let mut allow = redis::cmd("ACL");
    allow.arg(&["SETUSER", "default", ">secret"]);
    let _: () = allow.query_async(&mut admin).await.unwrap();
    granted(ask(&store, &policy, "alice", 1).await);
}

#[tokio::test]
async fn stores_with_different_prefixes_share_nothing_and_others_all() {
    let server = Server::start();
    let policy = policy(1, MINUTE);
    let store = server.store().await;
    granted(ask(&store, &policy, "alice", 1).await);
    let other = server
        .builder()
        .key_prefix("other:")
        .connect()
        .await
        .unwrap();
    granted(ask(&other, &policy, "alice", 1).await);
    let raw = RedisStore::new(server.connection().await);
    assert!(!ask(&raw, &policy, "alice", 1).await.unwrap().is_admitted());
    assert_eq!(store.to_string(), "RedisStore(limiter:)");
    assert_eq!(other.to_string(), "RedisStore(other:)");
    assert!(!format!("{store:?}").contains("socket"), "{store:?}");
}

#[tokio::test]
async fn a_full_server_is_unavailable_until_somebody_leaves() {
    let server = Server::start();
    let policy = policy(5, MINUTE);
    let mut only = server.connection().await;
    let clients = |most: u8| {
        let mut set = redis::cmd("CONFIG");
        set.arg(&["SET", "maxclients"]).arg(most);
        set
    };
    let _: () = clients(1).query_async(&mut only).await.unwrap();
    let store = server.builder().connect_lazily().unwrap();
    for _ in 0..3 {
        let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    let _: () = clients(100).query_async(&mut only).await.unwrap();
    assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, 1);
}

#[tokio::test]
async fn the_newer_protocol_and_another_database_work_too() {
    let server = Server::start();
    let url = format!("unix://{}?protocol=resp3&db=1", server.socket().display());
    let store = RedisStoreBuilder::url(url).connect().await.unwrap();
    let policy = policy(5, MINUTE);
    granted(ask(&store, &policy, "alice", 1).await);
    granted(ask(&store, &policy, "alice", 1).await);
    assert!(
        !ask(&store, &policy, "alice", 4)
            .await
            .unwrap()
            .is_admitted()
    );
    let snapshot = store.peek(&Budget::of(&policy, "alice")).await.unwrap();
    assert_eq!(snapshot.total, 2);
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
}
