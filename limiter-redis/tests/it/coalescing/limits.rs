//! How much goes into one call.

use limiter_core::{BudgetStore, Identity};
use limiter_redis::Mixing;

use super::{ALONE, ahead, coalescing, on, request, totals};
use crate::helpers::{MINUTE, policy};
use crate::server::Server;

const MAX_DECISIONS: usize = 64;
const MAX_BYTES: usize = 65_536;

#[tokio::test]
async fn a_call_decides_at_most_64() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(1, MINUTE);
    let mut requests = ahead();
    requests.extend((0..200).map(|who| request(&policy, &who.to_string(), 1)));
    gate.gather(&store, &requests).await;
    gate.sent();
    let _: () = server.run("FLUSHALL").await;
    let answers = gate.gather(&store, &requests).await;
    assert!(totals(&answers)[ALONE..].iter().all(|total| *total == 1));
    let keys: Vec<usize> = gate.sent()[ALONE..].iter().map(|sent| sent.keys).collect();
    assert_eq!(keys, [MAX_DECISIONS, MAX_DECISIONS, MAX_DECISIONS, 8]);
}

#[tokio::test]
async fn a_call_that_decides_several_has_at_most_64_kib() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(u64::MAX >> 11, MINUTE);
    let mut requests = ahead();
    for size in [1, 100, 1000, 5000, 30_000] {
        let people = (0..40).map(|who| format!("{who}{}", "x".repeat(size)));
        requests.extend(people.map(|who| request(&policy, &who, (1 << 53) / 3)));
    }
    gate.gather(&store, &requests).await;
    gate.sent();
    let _: () = server.run("FLUSHALL").await;
    let answers = gate.gather(&store, &requests).await;
    assert!(totals(&answers)[ALONE..].iter().all(|total| *total > 0));
    let sent = gate.sent();
    assert!(sent.len() > ALONE + 4);
    for sent in sent {
        assert!(sent.bytes <= MAX_BYTES, "{sent:?}");
    }
}

#[tokio::test]
async fn a_key_that_does_not_fit_goes_alone() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(5, MINUTE);
    let large = Identity::from(vec![b'x'; 65_536]);
    let large = limiter_core::Acquire::of(&policy, large, limiter_core::Cost::ONE);
    let mut requests = ahead();
    requests.extend([request(&policy, "small", 1), large.clone(), large]);
    let answers = gate.gather(&store, &requests).await;
    assert_eq!(totals(&answers)[ALONE..], [1, 1, 2]);
    let large = gate
        .sent()
        .into_iter()
        .filter(|sent| sent.bytes > MAX_BYTES);
    assert!(large.into_iter().all(|sent| sent.keys == 1));
}

#[tokio::test]
async fn by_hash_tag_each_call_has_the_budgets_of_one_identity() {
    let server = Server::start();
    let (gate, store) = coalescing(server.connection().await, Mixing::PerHashTag);
    let policies = [policy(100, MINUTE), policy(100, MINUTE * 2)];
    let mut requests = ahead();
    for round in 0..30 {
        let who = ["alice", "bob", "carol"][round % 3];
        requests.push(request(&policies[round % 2], who, 1));
    }
    gate.gather(&store, &requests).await;
    gate.sent();
    let answers = gate.gather(&store, &requests).await;
    assert!(totals(&answers)[ALONE..].iter().all(|total| *total > 5));
    let keys: Vec<usize> = gate.sent()[ALONE..].iter().map(|sent| sent.keys).collect();
    assert_eq!(keys, [2, 2, 2]);
}

#[tokio::test]
async fn what_cannot_be_combined_is_answered_all_the_same() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let mut requests = ahead();
    for policy in crate::helpers::policies(5, MINUTE * 60) {
        for _ in 0..2 {
            let request = request(&policy, "alice", 1);
            requests.push(request.with_nonce(crate::helpers::nonce()));
        }
    }
    let answers = gate.gather(&store, &requests).await;
    assert_eq!(totals(&answers)[ALONE..], [1, 2].repeat(7));
    let _ = store.peek(requests[0].charges()[0].budget()).await.unwrap();
}
