//! State that the store did not write.

use limiter_core::{Budget, BudgetStore, Error, ErrorKind};

use crate::helpers::{MINUTE, ask, granted, key, policy};
use crate::server::Server;

fn is_named(error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(!error.may_have_spent());
    assert!(error.message().contains("\"test\""), "{error}");
    assert!(!error.message().contains("alice"), "{error}");
}

#[tokio::test]
async fn values_that_are_no_count_are_reported_and_left_alone() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let key = key(&server, &policy, "alice").await;
    let mut connection = server.connection().await;
    let values = [
        "",
        "abc",
        "-1",
        "-0",
        "+1",
        "1.0",
        "1.",
        "0x10",
        "1e3",
        " 5 ",
        "5\n",
        "5\0",
        "nan",
        "inf",
        "05",
        "00",
        "9007199254740992",
        "9007199254740993",
        "9999999999999999",
        "18446744073709551616",
        "00000000000000001",
    ];
    for value in values {
        let mut set = redis::cmd("SET");
        set.arg(&key).arg(value).arg("PX").arg(60_000);
        let _: () = set.query_async(&mut connection).await.unwrap();
        for cost in [1, 6] {
            is_named(&ask(&store, &policy, "alice", cost).await.unwrap_err());
        }
        is_named(&store.peek(&Budget::of(&policy, "alice")).await.unwrap_err());
        let left: String = server.run(&format!("GET {key}")).await;
        assert_eq!(left, value);
    }
}

#[tokio::test]
async fn a_count_without_a_deadline_is_reported_below_and_at_the_limit() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let key = key(&server, &policy, "alice").await;
    for count in [1, 5, 9] {
        let _: () = server.run(&format!("SET {key} {count}")).await;
        let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
        is_named(&error);
        assert!(error.message().contains("no deadline"), "{error}");
        is_named(&store.peek(&Budget::of(&policy, "alice")).await.unwrap_err());
        assert_eq!(server.run::<i64>(&format!("GET {key}")).await, count);
        assert_eq!(server.run::<i64>(&format!("PTTL {key}")).await, -1);
    }
}

#[tokio::test]
async fn other_types_are_reported() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let key = key(&server, &policy, "alice").await;
    for create in [
        "HSET {} c 1",
        "RPUSH {} 1",
        "SADD {} 1",
        "ZADD {} 1 1",
        "XADD {} * c 1",
    ] {
        let _: redis::Value = server.run(&create.replace("{}", &key)).await;
        let _: i64 = server.run(&format!("PEXPIRE {key} 60000")).await;
        let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
        is_named(&error);
        assert!(error.message().contains("not a string"), "{error}");
        let _: i64 = server.run(&format!("DEL {key}")).await;
    }
}

#[tokio::test]
async fn the_smallest_and_the_largest_count_are_counts() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(limiter_core::MAX_UNITS, MINUTE);
    let key = key(&server, &policy, "alice").await;
    for count in ["0", "9", "9007199254740990"] {
        let _: () = server.run(&format!("SET {key} {count} PX 60000")).await;
        let total = granted(ask(&store, &policy, "alice", 1).await).total;
        assert_eq!(total, count.parse::<u64>().unwrap() + 1);
    }
}
