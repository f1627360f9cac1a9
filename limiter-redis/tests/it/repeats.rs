//! Request ids on a real server.

use std::time::Duration;

use futures_util::future::join_all;
use limiter_core::{Acquire, Budget, BudgetStore, Cost, ErrorKind, Refunded, RequestId};

use crate::helpers::{MINUTE, policies, policy, together};
use crate::server::Server;

fn id() -> RequestId {
    RequestId::new("order-17").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_sixteen_connections_repeat_is_charged_once() {
    let server = Server::start();
    let stores = join_all((0..16).map(|_| server.store())).await;
    let budgets: Vec<Budget> = policies(100, MINUTE * 60)
        .iter()
        .map(|policy| Budget::of(policy, "alice"))
        .collect();
    let request = together(budgets.clone(), 3).with_id(id());
    let calls = (0..160_usize).map(|call| stores[call % 16].acquire(&request));
    let admissions = join_all(calls).await.into_iter();
    let admissions: Vec<_> = admissions
        .map(|one| one.unwrap().admitted().unwrap())
        .collect();
    let first = admissions.iter().filter(|one| !one.is_repeat()).count();
    assert_eq!(first, 1);
    for admission in &admissions {
        let same = admission.grants().iter().zip(admissions[0].grants());
        for (grant, other) in same {
            assert_eq!((grant.total, &grant.receipt), (other.total, &other.receipt));
        }
    }
    for budget in &budgets {
        assert_eq!(stores[0].peek(budget).await.unwrap().total, 3);
    }
}

#[tokio::test]
async fn a_record_has_its_own_life_and_the_budgets_keep_theirs() {
    let server = Server::start();
    let store = server.store().await;
    let budget = Budget::of(&policy(5, MINUTE), "alice");
    let life = Duration::from_millis(50);
    let request = || {
        Acquire::one(budget.clone(), Cost::ONE)
            .remembered_for(id(), life)
            .unwrap()
    };
    for expected in 1..=2 {
        assert!(store.acquire(&request()).await.unwrap().is_admitted());
        assert!(
            store
                .acquire(&request())
                .await
                .unwrap()
                .admitted()
                .unwrap()
                .is_repeat()
        );
        assert_eq!(store.peek(&budget).await.unwrap().total, expected);
        std::thread::sleep(life + Duration::from_millis(5));
    }
}

/// What is lost is waste, not overspend; a bucket cannot know any more which charge was given back.
#[tokio::test]
async fn where_the_record_alone_is_lost_a_repeat_charges_again() {
    let server = Server::start();
    let store = server.store().await;
    let budget = Budget::of(&policies(5, MINUTE * 60)[5], "alice");
    let request = together([budget.clone()], 2).with_id(id());
    let first = store.acquire(&request).await.unwrap().admitted().unwrap();
    let keys: Vec<String> = server.run("KEYS *}1:request:*").await;
    let _: i64 = server.run(&format!("DEL {}", keys[0])).await;
    let again = store.acquire(&request).await.unwrap().admitted().unwrap();
    assert!(!again.is_repeat());
    assert_eq!(store.peek(&budget).await.unwrap().total, 4);
    for admission in [first, again] {
        for receipt in admission.into_receipts() {
            assert_eq!(
                store.refund(receipt).await.unwrap(),
                Refunded::Credited { units: 2 }
            );
        }
    }
    let error = store.acquire(&request).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(store.peek(&budget).await.unwrap().total, 0);
}

#[tokio::test]
async fn an_identity_and_an_id_of_any_bytes_are_told_apart() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let ids: [&[u8]; 5] = [b"{}", b"a:b", b"\0", b"\xff\xfe", &[b'x'; 64]];
    for (number, bytes) in ids.iter().enumerate() {
        let id = RequestId::new(bytes).unwrap();
        let budget = Budget::of(&policy, *bytes);
        let request = Acquire::one(budget, Cost::ONE).with_id(id);
        for is_repeat in [false, true] {
            let admission = store.acquire(&request).await.unwrap().admitted().unwrap();
            assert_eq!(admission.is_repeat(), is_repeat);
        }
        assert_eq!(server.run::<usize>("DBSIZE").await, 2 * (number + 1));
    }
}
