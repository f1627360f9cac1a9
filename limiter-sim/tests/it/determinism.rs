//! The same scenario gives the same result, always; code that does not is noticed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limiter_sim::{Client, Endpoint, Fault, Outcome, Scenario, Search};

use crate::support::{explore, scenario};

fn json(scenario: &Scenario) -> String {
    serde_json::to_string(&explore(scenario)).expect("an exploration is plain data")
}

#[test]
fn the_same_exploration_twice_prints_the_same() {
    for store in [
        "split",
        "atomic-window",
        "watch-multi",
        "set-nx-then-increment",
    ] {
        let scenario = scenario(store)
            .workers(4)
            .limit(2)
            .fault(Fault::Evict, 1)
            .time_steps(1);
        assert_eq!(json(&scenario), json(&scenario), "{store}");
    }
}

fn sampled(seed: u64) -> Scenario {
    scenario("split")
        .workers(6)
        .limit(2)
        .fault(Fault::Failover, 1)
        .search(Search::Random)
        .runs(30)
        .seed(seed)
}

#[test]
fn the_same_seed_gives_the_same_result() {
    for seed in [0, 1, u64::MAX] {
        assert_eq!(json(&sampled(seed)), json(&sampled(seed)));
    }
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let exhausted = scenario("split")
        .workers(4)
        .limit(2)
        .fault(Fault::Evict, 2)
        .fault(Fault::LostReply, 2)
        .max_faults(2);
    for scenario in [
        exhausted.clone(),
        exhausted.max_states(2_000),
        sampled(0).runs(10_000),
        sampled(0).runs(10_000).search(Search::Pct),
    ] {
        let alone = json(&scenario.clone().threads(1));
        assert_eq!(alone, json(&scenario.threads(3)));
    }
}

#[test]
fn more_histories_at_random_are_other_histories() {
    let sampled = sampled(0).workers(12);
    let few = explore(&sampled.clone().runs(4_096));
    let more = explore(&sampled.runs(8_192));
    assert!(
        more.states > few.states + few.states / 4,
        "{} of {}",
        few.states,
        more.states
    );
}

#[test]
fn another_seed_may_give_another_result() {
    let states: Vec<u64> = (0..5).map(|seed| explore(&sampled(seed)).states).collect();
    assert!(states.iter().any(|other| *other != states[0]), "{states:?}");
}

#[test]
fn sampling_never_finds_more_than_there_is() {
    let exhaustive = explore(&sampled(0).search(Search::Exhaustive));
    for seed in 0..10 {
        assert!(explore(&sampled(seed)).max_admitted <= exhaustive.max_admitted);
    }
}

/// Whether exploring ends in an error or in a panic, and what it says.
fn complaint(client: Client) -> Option<String> {
    let scenario = Scenario::new(Arc::new(client)).workers(3).limit(2);
    match catch_unwind(AssertUnwindSafe(|| scenario.explore())) {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error),
        Err(panic) => Some(match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => panic
                .downcast::<&str>()
                .map_or_else(|_| String::new(), |text| (*text).to_owned()),
        }),
    }
}

#[test]
fn client_code_that_never_ends_is_named_and_not_waited_for() {
    let endless = || {
        Client::new("spinning", "asks until the end of time", |env| async move {
            let mut connection = env.connect(Endpoint::Primary);
            loop {
                let mut get = redis::cmd("GET");
                let _: Result<Option<u64>, _> = get.arg("k").query_async(&mut connection).await;
            }
        })
    };
    let said = complaint(endless()).expect("it is noticed");
    assert!(said.contains("spinning does not end"), "{said}");
    let scenario = Scenario::new(Arc::new(endless()))
        .workers(2)
        .fault(Fault::Evict, 1);
    for search in [Search::Exhaustive, Search::Random, Search::Pct] {
        let said = scenario
            .clone()
            .search(search)
            .runs(2)
            .explore()
            .unwrap_err();
        assert!(said.contains("does not end"), "{said}");
    }
}

fn drifts(client: Client) {
    let said = complaint(client).expect("client code that drifts is noticed");
    assert!(said.contains("drift"), "{said}");
}

#[test]
fn client_code_that_sends_something_else_each_time_fails_loudly() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    drifts(Client::new(
        "counting",
        "INCR of a key that is never the same",
        |env| async move {
            let key = format!("key{}", CALLS.fetch_add(1, Ordering::Relaxed));
            let mut connection = env.connect(Endpoint::Primary);
            let incr = redis::cmd("INCR")
                .arg(key)
                .query_async::<u64>(&mut connection)
                .await;
            if incr.is_ok() {
                Outcome::Admitted
            } else {
                Outcome::Failed
            }
        },
    ));
}

#[test]
fn client_code_that_decides_at_random_fails_loudly() {
    static CALLS: AtomicU64 = AtomicU64::new(1);
    drifts(Client::new(
        "wavering",
        "INCR; admits by a coin of its own",
        |env| async move {
            let mut connection = env.connect(Endpoint::Primary);
            let incr = redis::cmd("INCR")
                .arg("key")
                .query_async::<u64>(&mut connection)
                .await;
            let call = CALLS.fetch_add(1, Ordering::Relaxed);
            let coin = call.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63;
            if incr.is_ok() && coin == 1 {
                Outcome::Admitted
            } else {
                Outcome::Denied
            }
        },
    ));
}

/// Client code that admits the first `calls` calls of its life, whoever makes them.
fn tiring(name: &str, calls: u64, of: &'static AtomicU64) -> Client {
    Client::new(
        name,
        "INCR; admits the first calls",
        move |env| async move {
            let mut connection = env.connect(Endpoint::Primary);
            let incr = redis::cmd("INCR")
                .arg("key")
                .query_async::<u64>(&mut connection)
                .await;
            let early = of.fetch_add(1, Ordering::Relaxed) < calls;
            if incr.is_ok() && early {
                Outcome::Admitted
            } else {
                Outcome::Denied
            }
        },
    )
}

#[test]
fn client_code_that_stops_to_admit_fails_loudly_although_its_replays_agree() {
    // What the search saw was within the limit, or above it; afterwards nobody is admitted.
    static WITHIN: AtomicU64 = AtomicU64::new(0);
    static ABOVE: AtomicU64 = AtomicU64::new(0);
    drifts(tiring("tiring-within", 2, &WITHIN));
    drifts(tiring("tiring-above", 3, &ABOVE));
}
