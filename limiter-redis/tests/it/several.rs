//! Several budgets at once, and which of them can be charged together.

use std::num::NonZeroU16;
use std::time::Duration;

use futures_util::future::join_all;
use limiter_core::{Budget, BudgetStore, ErrorKind, Policy, RuleKind, Wait};
use limiter_redis::{HashTags, ReconnectingConnection, RedisStore};

use crate::helpers::{MINUTE, ask, granted, policies, policy, together};
use crate::server::Server;

/// Long enough that no window ends while a test runs, unless it runs around midnight of a leap day.
const YEAR: Duration = Duration::from_secs(366 * 24 * 3600);

async fn partitioned(server: &Server, parts: u16) -> RedisStore<ReconnectingConnection> {
    let tags = HashTags::Partitions(NonZeroU16::new(parts).unwrap());
    server.builder().hash_tags(tags).connect().await.unwrap()
}

async fn total(store: &impl BudgetStore, budget: &Budget) -> u64 {
    store.peek(budget).await.unwrap().total
}

#[tokio::test]
async fn budgets_of_every_rule_are_charged_whole_or_not_at_all() {
    let server = Server::start();
    let store = server.store().await;
    let budgets: Vec<Budget> = policies(5, YEAR)
        .iter()
        .map(|policy| Budget::of(policy, "alice"))
        .collect();
    let admission = store.acquire(&together(budgets.clone(), 2)).await.unwrap();
    let grants = admission.admitted().unwrap().into_grants();
    assert!(
        grants
            .map(|grant| (grant.total, grant.remaining))
            .all(|seen| seen == (2, 3))
    );
    for (at, full) in budgets.iter().enumerate() {
        let spent = store.acquire(&together([full.clone()], 2)).await.unwrap();
        assert!(spent.is_admitted());
        let denied = store.acquire(&together(budgets.clone(), 2)).await.unwrap();
        let denied = denied.denied().unwrap();
        let named: Vec<&Budget> = denied.refusals().iter().map(|one| &one.budget).collect();
        // Those before it are full too by now.
        assert_eq!(named, budgets[..=at].iter().collect::<Vec<_>>());
        for (number, budget) in budgets.iter().enumerate() {
            let expected = if number <= at { 4 } else { 2 };
            assert_eq!(total(&store, budget).await, expected, "{number} of {at}");
        }
    }
}

#[tokio::test]
async fn the_whole_wait_is_the_longest_and_never_where_one_is() {
    let server = Server::start();
    let store = server.store().await;
    let (short, long) = (policy(1, MINUTE), policy(1, MINUTE * 60));
    let budgets = [&short, &long].map(|policy| Budget::of(policy, "alice"));
    let _ = store.acquire(&together(budgets.clone(), 1)).await.unwrap();
    let denied = store.acquire(&together(budgets.clone(), 1)).await.unwrap();
    let wait = denied.denied().unwrap().wait().duration().unwrap();
    assert!(wait > MINUTE * 59, "{wait:?}");
    let denied = store.acquire(&together(budgets, 2)).await.unwrap();
    assert_eq!(denied.denied().unwrap().wait(), Wait::Never);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_connections_share_two_budgets_exactly() {
    let server = Server::start();
    let stores = join_all((0..16).map(|_| partitioned(&server, 1))).await;
    let account = policy(7, YEAR);
    let service = policies(20, YEAR)[2].clone();
    let calls = (0..80_usize).map(|call| {
        let who = ["alice", "bob", "carol", "dave"][call % 4];
        let budgets = [Budget::of(&account, who), Budget::shared(&service)];
        let store = &stores[call % 16];
        async move { store.acquire(&together(budgets, 1)).await.unwrap() }
    });
    let decisions = join_all(calls).await;
    let admitted = decisions.iter().filter(|one| one.is_admitted()).count();
    assert_eq!(admitted, 20);
    let shared = Budget::shared(&service);
    assert_eq!(total(&stores[0], &shared).await, 20);
    let mut sum = 0;
    for who in ["alice", "bob", "carol", "dave"] {
        sum += total(&stores[0], &Budget::of(&account, who)).await;
    }
    assert_eq!(sum, 20);
}

#[tokio::test]
async fn per_identity_refuses_what_lies_in_several_slots_before_it_sends_anything() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(5, MINUTE);
    let alice = Budget::of(&policy, "alice");
    for other in [Budget::of(&policy, "bob"), Budget::shared(&policy)] {
        let mixed = together([alice.clone(), other], 1);
        let error = store.acquire(&mixed).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("allowed are"), "{error}");
    }
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
    // Budgets that everybody shares lie together where their scopes are one.
    let shared = policies(5, MINUTE).into_iter();
    let shared: Vec<Budget> = shared.map(|policy| Budget::shared(&policy)).collect();
    let decision = store.acquire(&together(shared, 1)).await.unwrap();
    assert!(decision.is_admitted());
}

#[tokio::test]
async fn one_partition_takes_any_budgets_together() {
    let server = Server::start();
    let store = partitioned(&server, 1).await;
    let policy = policy(1, MINUTE);
    let names = (0..15_u64).map(|number| Budget::of(&policy, number));
    let all: Vec<Budget> = names.chain([Budget::shared(&policy)]).collect();
    assert!(
        store
            .acquire(&together(all.clone(), 1))
            .await
            .unwrap()
            .is_admitted()
    );
    let denied = store.acquire(&together(all, 1)).await.unwrap();
    assert_eq!(denied.denied().unwrap().refusals().len(), 16);
}

#[tokio::test]
async fn partitions_never_admit_more_than_the_limit_in_all() {
    let server = Server::start();
    let store = partitioned(&server, 4).await;
    let account = policy(100, YEAR);
    for service in policies(10, YEAR) {
        let service = Policy::clone(&service);
        let mut admitted = 0;
        for number in 0..40_u64 {
            let budgets = [
                Budget::of(&account, format!("{service:?}{number}")),
                Budget::shared(&service),
            ];
            let decision = store.acquire(&together(budgets, 1)).await.unwrap();
            admitted += u64::from(decision.is_admitted());
        }
        assert_eq!(admitted, 10, "{service:?}");
        let shared = Budget::shared(&service);
        let seen = store.peek(&shared).await.unwrap();
        assert_eq!((seen.total, seen.remaining), (10, 0));
        store.reset(&shared).await.unwrap();
        assert_eq!(store.peek(&shared).await.unwrap().remaining, 10);
    }
}

#[tokio::test]
async fn partitions_refuse_what_they_cannot_place() {
    let server = Server::start();
    let store = partitioned(&server, 4).await;
    let policy = policy(5, MINUTE);
    let [alice, bob] = ["alice", "bob"].map(|who| Budget::of(&policy, who));
    for budgets in [vec![alice, bob], vec![Budget::shared(&policy)]] {
        let error = store.acquire(&together(budgets, 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
    assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, 1);
}

#[tokio::test]
async fn a_refund_finds_the_partition_that_was_charged() {
    let server = Server::start();
    let store = partitioned(&server, 8).await;
    let account = policy(100, YEAR);
    for service in policies(800, YEAR).iter().skip(2) {
        let built = Policy::named("s").scope("s").limit(800);
        let service = match service.rule().kind() {
            RuleKind::Rolling => built.rolling(YEAR).refundable().build().unwrap(),
            RuleKind::TokenBucket => built.token_bucket(YEAR, 800).refundable().build().unwrap(),
            _ => service.clone(),
        };
        let shared = Budget::shared(&service);
        let mut receipts = Vec::new();
        for number in 0..24_u64 {
            let budgets = [Budget::of(&account, number), shared.clone()];
            let decision = store.acquire(&together(budgets, 2)).await.unwrap();
            receipts.extend(decision.admitted().unwrap().into_receipts());
        }
        assert_eq!(total(&store, &shared).await, 48, "{service:?}");
        // A part of a unit may have come back to a bucket by itself.
        let least = if service.rule().kind() == RuleKind::TokenBucket {
            1
        } else {
            2
        };
        for receipt in receipts {
            let refunded = store.refund(receipt).await.unwrap();
            assert!(
                (least..=2).contains(&refunded.units()),
                "{service:?}: {refunded:?}"
            );
        }
        let left = total(&store, &shared).await;
        assert!(left <= 24 * (2 - least), "{service:?}: {left}");
    }
}
