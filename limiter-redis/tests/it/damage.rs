//! State under the other rules that the store did not write, and writes that fail.

use limiter_core::{Budget, BudgetStore, ErrorKind, Policy, RequestId, Snapshot};
use limiter_redis::RedisStoreBuilder;

use crate::helpers::{MINUTE, ask, policies, together};
use crate::server::Server;

const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);

/// For each of the forms, in the order of `policies`, commands that make what it does not write. Each
/// is followed by a deadline, unless it ends in `!`.
const FOREIGN: [&[&str]; 7] = [
    &["SET {} abc", "SET {} 1 !", "HSET {} c 1"],
    &[
        "SET {} abc",
        "SET {} -1",
        "SET {} 5 !",
        "SET {} 9007199254740993",
        "ZADD {} 1 1",
    ],
    &[
        "SET {} 1",
        "HSET {} h 1 t 1",
        "HSET {} h 1 t 1 s 1",
        "HSET {} h 2 t 1 s 1 1 5#1 2 6#1",
        "HSET {} h 1 t 2 s 1 1 5#1 2 6#1",
        "HSET {} h 1 t 2 s 2 1 5#x 2 6#1",
        "HSET {} h 1 t 9999 s 2 1 5#1 9999 6#1",
        "HSET {} h 1 t 1 s 1 1 9007199254740000#1 !",
        "HSET {} c 1",
    ],
    &[
        "SET {} abc",
        "SET {} 1",
        "SET {} 1#2",
        "SET {} 1#2#3#4",
        "SET {} -1#0#1",
        "SET {} 1#3600000#1",
        "SET {} 9007199254740993#0#1",
        "SET {} 1#0#1 !",
        "HSET {} c 1",
    ],
    &[
        "SET {} 1",
        "ZADD {} 1.5 a",
        "ZADD {} inf a",
        "ZADD {} 9007199254740000 a !",
        "HSET {} c 1",
    ],
    &[
        "SET {} 1",
        "HSET {} c 1",
        "HSET {} x 1",
        "HSET {} c 0 r 0 w 00000000000000000000000000000000",
        "HSET {} c 1 r 2 w 00000000000000000000000000000000",
        "HSET {} c 1 r 0 w 0",
        "HSET {} c 9007199254740993 r 0 w 00000000000000000000000000000000",
        "HSET {} c 1 r 0 w 00000000000000000000000000000000 !",
    ],
    &[
        "SET {} 1",
        "HSET {} c 1 r 0",
        "HSET {} c 1 r 0 w 00000000000000000000000000000000 !",
    ],
];

async fn plant(server: &Server, key: &str, recipe: &str) {
    let (recipe, is_kept) = match recipe.strip_suffix(" !") {
        Some(recipe) => (recipe, true),
        None => (recipe, false),
    };
    let mut words = recipe.split(' ');
    let mut command = redis::cmd(words.next().unwrap());
    for word in words {
        command.arg(word.replace("{}", key).replace('#', " "));
    }
    let mut connection = server.connection().await;
    let _: redis::Value = command.query_async(&mut connection).await.unwrap();
    if !is_kept {
        let _: i64 = server.run(&format!("PEXPIRE {key} 60000")).await;
    }
}

fn budgets() -> Vec<Budget> {
    let policies = policies(5, HOUR);
    policies
        .iter()
        .map(|policy| Budget::of(policy, "alice"))
        .collect()
}

#[tokio::test]
async fn foreign_state_is_reported_under_every_rule_and_left_alone() {
    let server = Server::start();
    let store = server.store().await;
    for (budget, recipes) in budgets().iter().zip(FOREIGN) {
        let key = String::from_utf8(store.redis_key(budget)).unwrap();
        for recipe in recipes {
            plant(&server, &key, recipe).await;
            let before: Option<Vec<u8>> = server.run(&format!("DUMP {key}")).await;
            for cost in [1, 6] {
                let error = ask(&store, budget.policy(), "alice", cost).await;
                let error = error.expect_err(recipe);
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{recipe}: {error}");
                assert!(error.message().contains("\"test\""), "{error}");
                assert!(!error.message().contains("alice"), "{error}");
            }
            let error = store.peek(budget).await.expect_err(recipe);
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{recipe}: {error}");
            let after: Option<Vec<u8>> = server.run(&format!("DUMP {key}")).await;
            assert_eq!(before, after, "{recipe}");
            // An operator can end it.
            store.reset(budget).await.unwrap();
            let unused = Snapshot::unused(budget.policy().limit());
            assert_eq!(store.peek(budget).await.unwrap(), unused);
        }
    }
}

#[tokio::test]
async fn every_damaged_budget_of_a_request_is_named_and_no_other_is_charged() {
    let server = Server::start();
    let store = server.store().await;
    let budgets = budgets();
    for number in [1, 4] {
        let key = String::from_utf8(store.redis_key(&budgets[number])).unwrap();
        plant(&server, &key, "SET {} abc").await;
    }
    let error = store
        .acquire(&together(budgets.clone(), 1))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    for number in [1, 4] {
        let name = format!("{:?}", budgets[number].key());
        assert!(error.message().contains(&name), "{error}");
    }
    assert_eq!(server.run::<i64>("DBSIZE").await, 2);
}

#[tokio::test]
async fn a_damaged_record_is_reported_and_charges_nothing() {
    let server = Server::start();
    let store = server.store().await;
    let budget = Budget::of(&policies(5, HOUR)[0], "alice");
    let id = RequestId::new("a").unwrap();
    let request = || together([budget.clone()], 1).with_id(id.clone());
    assert!(store.acquire(&request()).await.unwrap().is_admitted());
    let keys: Vec<String> = server.run("KEYS *}1:request:*").await;
    for recipe in ["SET {} abc", "SET {} 1 !", "HSET {} a 1"] {
        let _: i64 = server.run(&format!("DEL {}", keys[0])).await;
        plant(&server, &keys[0], recipe).await;
        let error = store.acquire(&request()).await.expect_err(recipe);
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{recipe}: {error}");
        assert!(error.message().contains("request id"), "{error}");
    }
    assert_eq!(store.peek(&budget).await.unwrap().total, 1);
}

#[tokio::test]
async fn a_server_that_will_not_write_charges_nothing_under_any_rule() {
    let server = Server::start();
    let store = server.store().await;
    let states = [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        (
            "CONFIG SET min-replicas-to-write 1",
            "CONFIG SET min-replicas-to-write 0",
        ),
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    ];
    let id = RequestId::new("a").unwrap();
    let charged = together(budgets(), 1).with_id(id);
    let admission = store.acquire(&charged).await.unwrap().admitted().unwrap();
    let mut receipts: Vec<_> = admission.into_receipts().collect();
    for (on, off) in states {
        let _: () = server.run(on).await;
        for budget in budgets() {
            for who in ["alice", "new"] {
                let asked = ask(&store, budget.policy(), who, 1).await;
                let error = asked.expect_err(on);
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{on}: {error}");
            }
        }
        let error = store.acquire(&together(budgets(), 1)).await.expect_err(on);
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{on}: {error}");
        let receipt = receipts.pop().unwrap();
        // A server that is full still lets a lease go.
        if let Err(error) = store.refund(receipt).await {
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{on}: {error}");
        }
        let _: () = server.run(off).await;
        for budget in budgets() {
            assert_eq!(store.peek(&budget).await.unwrap().total, 1, "{on}");
        }
    }
}

#[tokio::test]
async fn a_user_who_may_not_write_changes_nothing_and_one_who_may_write_half_is_uncertain() {
    let server = Server::start();
    let reads = "+evalsha +eval +get +pttl +hmget +time +hget +zrange +zcount +zscore";
    let create = |name: &str, rules: &str| format!("ACL SETUSER {name} on >secret ~* {rules}");
    let _: () = server.run(&create("reader", reads)).await;
    let half = format!("{reads} +hset +zadd +set");
    let _: () = server.run(&create("half", &half)).await;
    let store = |name: &str| {
        let socket = server.socket();
        let url = format!("unix://{}?user={name}&pass=secret", socket.display());
        RedisStoreBuilder::url(url).connect()
    };
    let (reader, half) = (store("reader").await.unwrap(), store("half").await.unwrap());
    let refundable: Vec<Policy> = policies(5, MINUTE).split_off(4);
    for policy in &refundable {
        let error = ask(&reader, policy, "alice", 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
    for policy in &refundable {
        let error = ask(&half, policy, "alice", 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Uncertain, "{error}");
        // What it left has no deadline, so it is found out.
        let whole = server.store().await;
        let found = whole.peek(&Budget::of(policy, "alice")).await.unwrap_err();
        assert_eq!(found.kind(), ErrorKind::Corrupt, "{found}");
    }
}
