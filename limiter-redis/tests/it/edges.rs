//! Values at the edge of what is allowed, and time at the edge of a window. Where an instant must be
//! exact, the model's clock says it.

use std::num::NonZeroU16;
use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{
    Admission, Budget, BudgetStore, Clock, Cost, Decision, MAX_UNITS, ManualClock, Policy,
    Timestamp, Wait,
};
use limiter_redis::{HashTags, RedisStore};

use crate::helpers::{ask, granted, policies, refused, together};
use crate::model::Model;
use crate::server::Server;

pub(crate) const DAY: Duration = Duration::from_secs(24 * 3600);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// A store on the model, at the start of a second.
pub(crate) fn modelled() -> (RedisStore<Model>, ManualClock) {
    let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
    let store = RedisStore::new(Model::on(clock.clone()));
    (
        store.with_hash_tags(HashTags::Partitions(NonZeroU16::MIN)),
        clock,
    )
}

pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the model answers at once")
}

pub(crate) fn admit(store: &RedisStore<Model>, policy: &Policy, cost: u64) -> Admission {
    let request = together([Budget::of(policy, "alice")], cost);
    now(store.acquire(&request)).unwrap().admitted().unwrap()
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
