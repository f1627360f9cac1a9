//! Values at the edge of what is allowed, and time at the edge of a window. Where an instant must be
//! exact, the model's clock says it.

use std::num::NonZeroU16;
use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{
    Acquire, Admission, Budget, BudgetStore, Clock, Cost, Decision, MAX_UNITS, ManualClock, Policy,
    Receipt, Refunded, Renewed, RuleKind, Timestamp, Wait,
};
use limiter_redis::{HashTags, RedisStore};

use crate::helpers::{MINUTE, ask, granted, nonce, policies, refused, together};
use crate::model::Model;
use crate::server::Server;

const DAY: Duration = Duration::from_secs(24 * 3600);
const SECOND: Duration = Duration::from_secs(1);

/// A store on the model, at the start of a second.
fn modelled() -> (RedisStore<Model>, ManualClock) {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let store = RedisStore::new(Model::on(clock.clone()));
    (
        store.with_hash_tags(HashTags::Partitions(NonZeroU16::MIN)),
        clock,
    )
}

fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the model answers at once")
}

fn admit(store: &RedisStore<Model>, policy: &Policy, cost: u64) -> Admission {
    let request = together([Budget::of(policy, "alice")], cost);
    now(store.acquire(&request)).unwrap().admitted().unwrap()
}

fn receipt(admission: Admission) -> Receipt {
    admission.into_receipts().next().unwrap()
}

fn twin(receipt: &Receipt) -> Receipt {
    let (budget, window) = (receipt.budget(), receipt.window());
    Receipt::new(budget, window, receipt.serial(), receipt.cost())
}

#[tokio::test]
async fn costs_at_and_above_the_limit_and_a_limit_of_zero_under_every_rule() {
    let server = Server::start();
    let store = server.store().await;
    assert!(Cost::new(0).is_err());
    for policy in policies(5, DAY) {
        let refusal = refused(ask(&store, &policy, "alice", 6).await);
        assert_eq!(
            (refusal.remaining, refusal.wait),
            (5, Wait::Never),
            "{policy:?}"
        );
        let grant = granted(ask(&store, &policy, "alice", 5).await);
        assert_eq!((grant.total, grant.remaining), (5, 0), "{policy:?}");
    }
    let _: () = server.run("FLUSHALL").await;
    for policy in policies(0, DAY) {
        let refusal = refused(ask(&store, &policy, "alice", 1).await);
        assert_eq!(
            (refusal.remaining, refusal.wait),
            (0, Wait::Never),
            "{policy:?}"
        );
    }
    assert_eq!(server.run::<i64>("DBSIZE").await, 0);
}

#[test]
fn the_largest_numbers_are_exact_under_every_rule() {
    let (store, clock) = modelled();
    let year = 366 * DAY;
    let built = || Policy::named("p").scope("s").limit(MAX_UNITS);
    let policies = [
        built().aligned(year),
        built().token_bucket(year, MAX_UNITS),
        built().first_arrival(year).refundable(),
        built().aligned(year).refundable(),
        built().rolling(Duration::from_millis(4096)),
    ];
    for policy in policies.map(|policy| policy.build().unwrap()) {
        let ask = |cost| {
            let request = together([Budget::of(&policy, "alice")], cost);
            now(store.acquire(&request)).unwrap()
        };
        for (cost, total) in [
            (MAX_UNITS - 2, MAX_UNITS - 2),
            (1, MAX_UNITS - 1),
            (1, MAX_UNITS),
        ] {
            let admission = ask(cost).admitted().unwrap();
            let grant = &admission.grants()[0];
            assert_eq!(
                (grant.total, grant.remaining),
                (total, MAX_UNITS - total),
                "{policy:?}"
            );
        }
        assert!(!ask(1).is_admitted(), "{policy:?}");
    }
    let (limit, burst) = (100_000, 1024);
    let leases = Policy::named("p").scope("s").limit(limit).in_flight(year);
    let leases = leases.build().unwrap();
    for taken in 1..=97 {
        assert_eq!(
            admit(&store, &leases, burst).grants()[0].total,
            taken * burst
        );
    }
    assert_eq!(clock.now(), Timestamp::from_millis(1_700_000_000_000));
}

#[tokio::test]
async fn lengths_from_a_millisecond_to_a_year_under_every_rule() {
    let server = Server::start();
    let store = server.store().await;
    let lengths = [Duration::from_millis(1), SECOND / 2, 31 * DAY, 366 * DAY];
    for length in lengths {
        for policy in policies(1, length) {
            let grant = granted(ask(&store, &policy, "alice", 1).await);
            let most = length + Duration::from_millis(1);
            assert!(grant.resets_in <= most, "{policy:?}: {:?}", grant.resets_in);
        }
    }
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(
        server.run::<i64>("DBSIZE").await,
        14,
        "what was short is gone"
    );
}

#[test]
fn a_time_to_live_of_zero_is_a_first_arrival_windows_last_millisecond_and_an_aligned_one_is_over() {
    let (store, clock) = modelled();
    let all = policies(1, SECOND);
    for policy in [&all[0], &all[5]] {
        let _ = admit(&store, policy, 1);
    }
    clock.advance(SECOND);
    for policy in [&all[0], &all[5]] {
        let request = together([Budget::of(policy, "alice")], 1);
        let denial = now(store.acquire(&request)).unwrap().denied().unwrap();
        assert_eq!(
            denial.wait(),
            Wait::For(Duration::from_millis(1)),
            "{policy:?}"
        );
    }
    for policy in [&all[1], &all[6]] {
        let _ = admit(&store, policy, 1);
    }
    clock.advance(SECOND);
    for policy in [&all[1], &all[6]] {
        assert_eq!(admit(&store, policy, 1).grants()[0].total, 1, "{policy:?}");
    }
}

#[test]
fn what_is_charged_in_the_last_millisecond_of_an_aligned_window_counts() {
    let (store, clock) = modelled();
    clock.advance(SECOND - Duration::from_millis(1));
    let all = policies(2, SECOND);
    let short = policies(2, Duration::from_millis(1));
    for policy in [&all[1], &all[6], &short[1], &short[6]] {
        for total in 1..=2 {
            assert_eq!(
                admit(&store, policy, 1).grants()[0].total,
                total,
                "{policy:?}"
            );
        }
        let request = together([Budget::of(policy, "alice")], 1);
        let denial = now(store.acquire(&request)).unwrap().denied().unwrap();
        assert_eq!(
            denial.wait(),
            Wait::For(Duration::from_millis(1)),
            "{policy:?}"
        );
    }
    clock.advance(Duration::from_millis(1));
    for policy in [&all[1], &all[6], &short[1], &short[6]] {
        assert_eq!(admit(&store, policy, 1).grants()[0].total, 1, "{policy:?}");
    }
}

/// Valkey does not keep a key whose deadline is now. With the window's last millisecond as deadline, what
/// was charged in it was lost, and with a length of 1 ms everything was admitted.
#[tokio::test]
async fn a_real_server_keeps_what_is_charged_in_a_windows_last_millisecond() {
    let server = Server::start();
    // Twice in one script, where time stands still on all servers but 6.2.
    let twice = format!(
        "local function ask() {} end local first = ask() return {{first[1], ask()[1]}}",
        limiter_redis::scripts::ACQUIRE
    );
    let mut connection = server.connection().await;
    for form in ["aligned", "aligned-refundable"] {
        let mut admitted_twice = 0;
        for _ in 0..50 {
            let mut eval = redis::cmd("EVAL");
            eval.arg(&twice)
                .arg(1)
                .arg(form)
                .arg("0".repeat(32))
                .arg("")
                .arg(0);
            eval.arg(form).arg(1).arg(1).arg(1).arg(1).arg("");
            let answers: (u64, u64) = eval.query_async(&mut connection).await.unwrap();
            admitted_twice += u64::from(answers == (1, 1));
        }
        assert!(admitted_twice < 10, "{form}: {admitted_twice} of 50");
    }
}

#[test]
fn a_clock_that_steps_back_11_s_gives_no_credit() {
    let (store, clock) = modelled();
    for policy in policies(3, SECOND) {
        let _ = admit(&store, &policy, 3);
    }
    let start = clock.now().as_millis();
    clock.set(Timestamp::from_millis(start - 11_000));
    for _ in 0..11 {
        for policy in policies(3, SECOND) {
            let request = together([Budget::of(&policy, "alice")], 3);
            let decision = now(store.acquire(&request)).unwrap();
            assert!(!decision.is_admitted(), "{policy:?}");
        }
        clock.advance(SECOND);
    }
    clock.advance(2 * SECOND);
    for policy in policies(3, SECOND) {
        let _ = admit(&store, &policy, 3);
    }
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

#[tokio::test]
async fn idle_budgets_leave_nothing_behind() {
    let server = Server::start();
    let store = server.store().await;
    for policy in policies(5, SECOND / 2) {
        for who in 0..300_u64 {
            let decision: Decision = ask(&store, &policy, who, 1).await.unwrap();
            assert!(decision.is_admitted());
        }
    }
    let mut left = 1;
    for _ in 0..100 {
        left = server.run::<i64>("DBSIZE").await;
        if left == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(left, 0);
}
