//! Whom a failure meets, and whom it does not.

use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{BudgetStore, Error, ErrorKind, ManualClock, Timestamp};
use limiter_redis::{CoalescingStore, Mixing, RedisStore};

use super::gate::{Gate, settle};
use super::{ALONE, ahead, on, request, totals};
use crate::helpers::{MINUTE, key, policy};
use crate::server::Server;

fn kind<T: std::fmt::Debug>(answer: &Result<T, Error>) -> ErrorKind {
    answer.as_ref().expect_err("an error").kind()
}

#[tokio::test]
async fn whoever_is_dropped_while_it_waits_is_not_charged_and_strands_nobody() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(10, MINUTE);
    gate.set_open(false);
    let first = ahead();
    let mut under_way: Vec<_> = first.iter().map(|ahead| store.acquire(ahead)).collect();
    for call in &mut under_way {
        assert!(call.as_mut().now_or_never().is_none());
    }
    let (dropped, kept) = (request(&policy, "alice", 3), request(&policy, "alice", 1));
    let mut leaves = store.acquire(&dropped);
    let mut stays = store.acquire(&kept);
    assert!(leaves.as_mut().now_or_never().is_none());
    assert!(stays.as_mut().now_or_never().is_none());
    drop(leaves);
    // Also those that are under way may go: whoever waits is sent all the same.
    drop(under_way);
    settle().await;
    gate.set_open(true);
    let decision = stays.await;
    assert_eq!(totals(&[decision]), [1]);
}

#[tokio::test]
async fn past_its_deadline_a_call_that_waits_is_unavailable_and_one_that_was_sent_is_uncertain() {
    let server = Server::start();
    let gate = Gate::before(server.connection().await);
    let clock = ManualClock::at(Timestamp::from_millis(0));
    let (store, driver) = CoalescingStore::new(RedisStore::new(gate.clone()), Mixing::AllKeys);
    let store = store.with_deadline(clock.clone(), Duration::from_millis(50));
    tokio::spawn(driver);
    let policy = policy(100, MINUTE);
    let loads_the_script = store.acquire(&request(&policy, "bob", 1)).await;
    assert_eq!(totals(&[loads_the_script]), [1]);
    gate.set_open(false);
    let requests = vec![request(&policy, "alice", 1); ALONE + 3];
    let calls = futures_util::future::join_all(requests.iter().map(|one| store.acquire(one)));
    let late = async {
        settle().await;
        clock.advance(Duration::from_millis(50));
    };
    let (answers, ()) = futures_util::future::join(calls, late).await;
    for (place, answer) in answers.iter().enumerate() {
        let expected = match place < ALONE {
            true => ErrorKind::Uncertain,
            false => ErrorKind::Unavailable,
        };
        assert_eq!(kind(answer), expected, "call {place}");
    }
    gate.set_open(true);
    // On the same connection, so behind all that was sent.
    let charged = store.peek(requests[0].charges()[0].budget()).await;
    assert_eq!(charged.unwrap().total, ALONE as u64);
}

#[tokio::test]
async fn a_lost_reply_leaves_all_whom_it_was_for_uncertain_and_charged() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(100, MINUTE);
    let mut requests = ahead();
    requests.extend(vec![request(&policy, "alice", 1); 5]);
    gate.lose_replies();
    let answers = gate.gather(&store, &requests).await;
    assert!(
        answers
            .iter()
            .all(|answer| kind(answer) == ErrorKind::Uncertain)
    );
    let fresh = server.store().await;
    let charged = fresh.peek(requests[ALONE].charges()[0].budget()).await;
    assert_eq!(charged.unwrap().total, 5);
}

#[tokio::test]
async fn a_corrupt_budget_fails_those_who_asked_for_it_and_nobody_else() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(5, MINUTE);
    for (who, command) in [
        ("text", "SET K abc"),
        ("list", "RPUSH K a"),
        ("bare", "SET K 3"),
    ] {
        let key = key(&server, &policy, who).await;
        let _: redis::Value = server.run(&command.replace('K', &key)).await;
    }
    let mut requests = ahead();
    let people = ["alice", "text", "alice", "list", "bare", "text", "bob"];
    requests.extend(people.map(|who| request(&policy, who, 1)));
    let mut answers = gate.gather(&store, &requests).await.split_off(ALONE);
    assert_eq!(gate.sent().iter().filter(|sent| sent.keys == 5).count(), 2);
    for place in [5, 4, 3, 1] {
        let answer = answers.remove(place);
        assert_eq!(kind(&answer), ErrorKind::Corrupt, "{answer:?}");
    }
    assert_eq!(totals(&answers), [1, 2, 1]);
}

#[tokio::test]
async fn a_full_server_refuses_what_would_be_written_and_still_denies() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(2, MINUTE);
    let before = [request(&policy, "alice", 2)];
    totals(&gate.gather(&store, &before).await);
    let mut requests = ahead();
    requests.extend(["bob", "alice", "bob", "carol"].map(|who| request(&policy, who, 1)));
    // So that both scripts are there: their texts would be refused too, on some versions.
    gate.gather(&store, &requests).await;
    let _: i64 = server
        .run(&format!("DEL {}", key(&server, &policy, "bob").await))
        .await;
    let _: () = server.run("CONFIG SET maxmemory 1").await;
    gate.sent();
    let mut answers = gate.gather(&store, &requests).await.split_off(ALONE);
    assert_eq!(gate.sent().len(), ALONE + 1);
    let denied = answers.remove(1).unwrap();
    assert!(!denied.is_admitted());
    for answer in &answers {
        assert_eq!(kind(answer), ErrorKind::Unavailable);
        assert!(
            answer.as_ref().unwrap_err().message().contains("OOM"),
            "{answer:?}"
        );
    }
    let _: () = server.run("CONFIG SET maxmemory 0").await;
    let charged = store.peek(requests[ALONE].charges()[0].budget()).await;
    assert_eq!(charged.unwrap().total, 0);
}

#[tokio::test]
async fn a_script_that_the_server_forgot_is_sent_once_more_by_its_text() {
    let server = Server::start();
    let (gate, store) = on(&server).await;
    let policy = policy(100, MINUTE);
    let mut requests = ahead();
    requests.extend(vec![request(&policy, "alice", 1); 5]);
    for round in 0..3 {
        let _: () = server.run("SCRIPT FLUSH").await;
        gate.sent();
        let answers = gate.gather(&store, &requests).await;
        let mine = totals(&answers)[ALONE..].to_vec();
        assert_eq!(mine, (round * 5 + 1..=round * 5 + 5).collect::<Vec<u64>>());
        let names: Vec<String> = gate.sent().into_iter().map(|sent| sent.name).collect();
        let together = &names[names.len() - 2..];
        assert_eq!(together, ["EVALSHA", "EVAL"], "{names:?}");
    }
}

#[tokio::test]
async fn without_its_driver_those_that_wait_are_unavailable_and_later_calls_go_alone() {
    let server = Server::start();
    let gate = Gate::before(server.connection().await);
    let (store, driver) = CoalescingStore::new(RedisStore::new(gate.clone()), Mixing::AllKeys);
    let driver = tokio::spawn(driver);
    let policy = policy(100, MINUTE);
    let requests = vec![request(&policy, "alice", 1); ALONE + 2];
    gate.set_open(false);
    let calls = futures_util::future::join_all(requests.iter().map(|one| store.acquire(one)));
    let ends = async {
        settle().await;
        driver.abort();
        let _ = driver.await;
        gate.set_open(true);
    };
    let (mut answers, ()) = futures_util::future::join(calls, ends).await;
    for answer in answers.split_off(ALONE) {
        assert_eq!(kind(&answer), ErrorKind::Unavailable);
    }
    assert_eq!(totals(&answers), (1..=ALONE as u64).collect::<Vec<_>>());
    let later = gate.gather(&store, &requests).await;
    let expected = ALONE as u64 + 1..=2 * ALONE as u64 + 2;
    assert_eq!(totals(&later), expected.collect::<Vec<_>>());
}
