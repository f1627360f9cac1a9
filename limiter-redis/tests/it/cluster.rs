//! Redirections in a small real cluster on loopback.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use limiter_core::{Budget, BudgetStore, ErrorKind, RequestId};
use limiter_redis::{RedirectingConnection, RedisStore, RedisStoreBuilder};

use crate::helpers::{MINUTE, ask, granted, key, policies, policy, together};
use crate::server::Server;

const SLOTS: u16 = 16384;

struct Node {
    server: Server,
    port: u16,
    id: String,
}

impl Node {
    async fn start(slots: std::ops::Range<u16>) -> Self {
        let port = free_port();
        let server = Server::start_with(&[
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--cluster-enabled",
            "yes",
            "--cluster-require-full-coverage",
            "no",
        ]);
        let slots: Vec<String> = slots.map(|slot| slot.to_string()).collect();
        let _: () = server
            .run(&format!("CLUSTER ADDSLOTS {}", slots.join(" ")))
            .await;
        let id = server.run("CLUSTER MYID").await;
        Self { server, port, id }
    }

    async fn set_slot(&self, slot: u16, state: &str, other: &Self) {
        let command = format!("CLUSTER SETSLOT {slot} {state} {}", other.id);
        let _: () = self.server.run(&command).await;
    }

    async fn holds(&self, key: &str) -> bool {
        let keys: Vec<String> = self.server.run("KEYS *").await;
        keys.iter().any(|held| held == key)
    }
}

/// A port that is free together with its bus port, 10,000 above.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = 20_000 + (std::process::id() % 10_000) as u16;
    loop {
        let port = start + NEXT.fetch_add(1, Ordering::Relaxed);
        let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if free(port) && free(port + 10_000) {
            return port;
        }
    }
}

/// Two nodes: the first has all slots but one, so that both are in the slot map.
async fn two_nodes() -> (Node, Node) {
    let most = Node::start(0..SLOTS - 1).await;
    let one = Node::start(SLOTS - 1..SLOTS).await;
    let meet = format!("CLUSTER MEET 127.0.0.1 {}", one.port);
    let _: () = most.server.run(&meet).await;
    for node in [&most, &one] {
        let mut info = String::new();
        while !(info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")) {
            std::thread::sleep(Duration::from_millis(20));
            info = node.server.run("CLUSTER INFO").await;
        }
    }
    (most, one)
}

async fn store(node: &Node) -> RedisStore<RedirectingConnection> {
    RedisStoreBuilder::url(format!("redis://127.0.0.1:{}", node.port))
        .response_deadline(Duration::from_secs(5))
        .connect_cluster()
        .await
        .unwrap()
}

#[tokio::test]
async fn redirections_are_followed_and_charge_once() {
    let (most, one) = two_nodes().await;
    let store = store(&most).await;
    let policy = policy(100, MINUTE);
    for number in 0..50_u64 {
        assert_eq!(granted(ask(&store, &policy, number, 1).await).total, 1);
    }

    // The slot of a budget that does not exist yet starts to move: ASK.
    let alice = key(&most.server, &policy, "alice").await;
    let slot: u16 = most.server.run(&format!("CLUSTER KEYSLOT {alice}")).await;
    one.set_slot(slot, "IMPORTING", &most).await;
    most.set_slot(slot, "MIGRATING", &one).await;
    for total in 1..=3 {
        assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, total);
    }
    assert!(one.holds(&alice).await && !most.holds(&alice).await);

    // It has moved: MOVED, and from then on the slot map knows.
    one.set_slot(slot, "NODE", &one).await;
    most.set_slot(slot, "NODE", &one).await;
    for total in 4..=6 {
        assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, total);
    }
    let snapshot = store.peek(&Budget::of(&policy, "alice")).await.unwrap();
    assert_eq!(snapshot.total, 6);
}

#[tokio::test]
async fn a_slot_that_nobody_serves_is_unavailable_and_a_dead_node_uncertain() {
    let (most, mut one) = two_nodes().await;
    let store = store(&most).await;
    let policy = policy(100, MINUTE);
    granted(ask(&store, &policy, "alice", 1).await);
    let alice = key(&most.server, &policy, "alice").await;
    let slot: u16 = most.server.run(&format!("CLUSTER KEYSLOT {alice}")).await;
    let _: () = most.server.run(&format!("DEL {alice}")).await;
    let _: () = most.server.run(&format!("CLUSTER DELSLOTS {slot}")).await;
    let error = ask(&store, &policy, "alice", 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");

    one.server.kill();
    let mut most = most;
    most.server.kill();
    for number in 0..5_u64 {
        let error = ask(&store, &policy, number, 1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Uncertain, "{error}");
    }
}

#[tokio::test]
async fn several_budgets_refunds_and_records_lie_on_the_node_of_their_tag() {
    let (most, _one) = two_nodes().await;
    let store = store(&most).await;
    let all = policies(5, MINUTE * 60);
    for who in 0..20_u64 {
        let id = RequestId::new(b"the same for everybody").unwrap();
        let budgets = all.iter().map(|policy| Budget::of(policy, who));
        let request = together(budgets, 2).with_id(id);
        let first = store.acquire(&request).await.unwrap().admitted().unwrap();
        assert!(!first.is_repeat());
        let again = store.acquire(&request).await.unwrap().admitted().unwrap();
        assert!(again.is_repeat());
        for receipt in first.into_receipts() {
            assert_eq!(store.refund(receipt).await.unwrap().units(), 2);
        }
    }
}
