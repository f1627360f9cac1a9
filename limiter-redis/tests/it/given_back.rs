//! Refunds, releases and renewals. Where an instant must be exact, the model's clock says it.

use limiter_core::{
    Acquire, Admission, Budget, BudgetStore, Cost, Policy, Receipt, Refunded, Renewed, RuleKind,
    Timestamp,
};

use crate::edges::{DAY, SECOND, admit, modelled, now};
use crate::helpers::{MINUTE, ask, granted, nonce, policies, refused, together};
use crate::server::Server;

fn receipt(admission: Admission) -> Receipt {
    admission.into_receipts().next().unwrap()
}

fn twin(receipt: &Receipt) -> Receipt {
    let (budget, window) = (receipt.budget(), receipt.window());
    Receipt::new(budget, window, receipt.serial(), receipt.cost())
}

#[test]
fn a_refund_twice_after_the_window_and_of_another_window_changes_nothing() {
    let (store, clock) = modelled();
    for policy in policies(9, SECOND).split_off(4) {
        let first = receipt(admit(&store, &policy, 2));
        let again = twin(&first);
        assert_eq!(
            now(store.refund(first)).unwrap(),
            Refunded::Credited { units: 2 }
        );
        let answer = now(store.refund(again)).unwrap();
        let is_lease = policy.rule().kind() == RuleKind::InFlight;
        let expected = if is_lease {
            Refunded::Late
        } else {
            Refunded::Repeated
        };
        assert_eq!(answer, expected, "{policy:?}");
        let late = receipt(admit(&store, &policy, 2));
        clock.advance(2 * SECOND);
        let _ = admit(&store, &policy, 3);
        assert_eq!(now(store.refund(late)).unwrap(), Refunded::Late);
        let seen = now(store.peek(&Budget::of(&policy, "alice"))).unwrap();
        assert_eq!(seen.total, 3, "{policy:?}");
    }
}

#[test]
fn a_receipt_of_another_key_finds_nothing_there() {
    let (store, _) = modelled();
    for policy in policies(9, SECOND).split_off(4) {
        let real = receipt(admit(&store, &policy, 2));
        let other = Budget::of(&policy, "bob");
        assert!(
            now(store.acquire(&together([other.clone()], 4)))
                .unwrap()
                .is_admitted()
        );
        let moved = Receipt::new(&other, real.window(), real.serial(), real.cost());
        assert_eq!(now(store.refund(moved)).unwrap(), Refunded::Late);
        assert_eq!(now(store.peek(&other)).unwrap().total, 4, "{policy:?}");
    }
}

#[test]
fn a_window_remembers_1024_refunds_and_then_refuses() {
    let (store, _) = modelled();
    let policy = &policies(4000, MINUTE)[5];
    for _ in 0..Refunded::MAX_PER_WINDOW {
        let credited = now(store.refund(receipt(admit(&store, policy, 1)))).unwrap();
        assert_eq!(credited, Refunded::Credited { units: 1 });
    }
    let one_more = receipt(admit(&store, policy, 1));
    assert_eq!(now(store.refund(one_more)).unwrap(), Refunded::Refused);
}

#[tokio::test]
async fn a_rolling_window_of_4096_milliseconds_is_walked_refunded_and_removed() {
    let server = Server::start();
    let store = server.store().await;
    let policy = Policy::named("p")
        .scope("s")
        .limit(4096)
        .rolling(DAY)
        .refundable();
    let budget = Budget::of(&policy.build().unwrap(), "alice");
    let key = String::from_utf8(store.redis_key(&budget)).unwrap();
    // 4,096 entries of one unit each: half of them a day old, the rest from now on.
    let fill = "local t = redis.call('TIME') local now = t[1] * 1000 \
                redis.call('HSET', KEYS[1], 'h', 1, 't', 4096, 's', 4096) \
                for i = 1, 4096 do local at = now - (i <= 2048 and 90000000 or 3600000) + i \
                redis.call('HSET', KEYS[1], i, string.format('%.0f 1', at)) end \
                redis.call('PEXPIRE', KEYS[1], 86400000) return now";
    let mut eval = redis::cmd("EVAL");
    eval.arg(fill).arg(1).arg(&key);
    let mut connection = server.connection().await;
    let now_ms: u64 = eval.query_async(&mut connection).await.unwrap();
    assert_eq!(store.peek(&budget).await.unwrap().total, 2048);
    let refusal = refused(ask(&store, budget.policy(), "alice", 4096).await);
    let wait = refusal.wait.duration().unwrap();
    assert!(wait > 22 * DAY / 24 && wait < DAY, "{wait:?}");
    // One from the middle: the shorter side closes up.
    for index in [4000, 2100] {
        let at = Timestamp::from_millis(now_ms - 3_600_000 + index);
        let window = limiter_core::WindowIdentity::at(at);
        let of = |budget| Receipt::new(budget, window, 0, Cost::ONE);
        let credited = store.refund(of(&budget)).await.unwrap();
        assert_eq!(credited, Refunded::Credited { units: 1 });
        assert_eq!(store.refund(of(&budget)).await.unwrap(), Refunded::Late);
    }
    assert_eq!(store.peek(&budget).await.unwrap().total, 2046);
    let grant = granted(ask(&store, budget.policy(), "alice", 1).await);
    assert_eq!(grant.total, 2047);
    let fields: i64 = server.run(&format!("HLEN {key}")).await;
    assert_eq!(fields, 3 + 2047, "what no longer counts was removed");
}

#[tokio::test]
async fn leases_are_released_and_renewed_on_a_real_server() {
    let server = Server::start();
    let store = server.store().await;
    let policy = &policies(2000, MINUTE)[4];
    let admitted = granted(ask(&store, policy, "alice", 1000).await);
    let held = admitted.receipt.unwrap();
    let renewed = store.renew(&held).await.unwrap();
    let Renewed::Extended { ends_in } = renewed else {
        panic!("{renewed:?}");
    };
    assert!(
        ends_in > MINUTE - SECOND && ends_in <= MINUTE + SECOND,
        "{ends_in:?}"
    );
    assert_eq!(
        store.refund(held).await.unwrap(),
        Refunded::Credited { units: 1000 }
    );
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
}

#[tokio::test]
async fn a_nonce_that_names_a_lease_already_is_invalid() {
    let server = Server::start();
    let store = server.store().await;
    let policy = &policies(5, MINUTE)[4];
    let request = Acquire::of(policy, "alice", Cost::ONE).with_nonce(nonce());
    assert!(store.acquire(&request).await.unwrap().is_admitted());
    let error = store.acquire(&request).await.unwrap_err();
    assert_eq!(error.kind(), limiter_core::ErrorKind::Invalid);
    assert!(error.message().contains("nonce"), "{error}");
}
