use limiter_core::{Acquire, BudgetStore, Cost, ErrorKind, Identity, MAX_UNITS, Timestamp};
use limiter_memory::{MemoryStore, Whose};

use crate::{admitted, advance, cost, denied, manual_clock, never, policy, set_back, store_of};

#[test]
fn a_limit_of_zero_denies_all_for_ever_and_needs_no_place() {
    let store = store_of(0, &manual_clock());
    let policy = policy("edges/zero", 0, 1000);
    let outcome = store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
    assert_eq!(outcome, never(0));
    assert!(store.is_empty());
}

#[test]
fn a_cost_above_the_limit_is_denied_for_ever_and_needs_no_place() {
    let store = store_of(0, &manual_clock());
    let policy = policy("edges/above", 5, 1000);
    let outcome = store.acquire_now(&policy, "alice", cost(6)).unwrap();
    assert_eq!(outcome, never(5));
    assert!(store.is_empty());
}

#[test]
fn the_largest_numbers_are_counted_exactly() {
    let store = store_of(1, &manual_clock());
    let policy = policy("edges/largest", MAX_UNITS, 1000);
    let ask = |units| store.acquire_now(&policy, "alice", cost(units)).unwrap();
    assert_eq!(ask(MAX_UNITS - 1), admitted(MAX_UNITS - 1, 1, 1001));
    assert_eq!(ask(1), admitted(MAX_UNITS, 0, 1001));
    assert_eq!(ask(MAX_UNITS), denied(0, 1001));
}

#[test]
fn identities_that_look_alike_have_budgets_of_their_own() {
    let store = store_of(100, &manual_clock());
    let policy = policy("edges/alike", 1, 1000);
    let long = [b'a'; 64];
    let alike: [Whose<'_>; 11] = [
        Whose::EVERYBODY,
        Whose::from(b""),
        Whose::from(b"\0"),
        Whose::from(b"\0\0"),
        Whose::from(b"*"),
        Whose::from(&[0xff; 15]),
        Whose::from(&[0xff; 16]),
        Whose::from(&long[..14]),
        Whose::from(&long[..15]),
        Whose::from(&long[..16]),
        Whose::from(&long[..17]),
    ];
    for whose in alike {
        let outcome = store.acquire_now(&policy, whose, Cost::ONE).unwrap();
        assert_eq!(outcome, admitted(1, 0, 1001), "{whose:?}");
    }
    for whose in alike {
        let outcome = store.acquire_now(&policy, whose, Cost::ONE).unwrap();
        assert_eq!(outcome, denied(0, 1001), "{whose:?}");
    }
    assert_eq!(store.len(), alike.len());
}

#[test]
fn a_number_and_its_text_are_one_identity() {
    let store = store_of(10, &manual_clock());
    let policy = policy("edges/number", 2, 1000);
    let text = Identity::from(u64::MAX);
    let first = store.acquire_now(&policy, u64::MAX, Cost::ONE).unwrap();
    let second = store.acquire_now(&policy, &text, Cost::ONE).unwrap();
    assert_eq!(
        (first, second),
        (admitted(1, 1, 1001), admitted(2, 0, 1001))
    );
}

#[test]
fn an_identity_of_64_kib_is_counted_to_its_last_byte() {
    let store = store_of(10, &manual_clock());
    let policy = policy("edges/64k", 1, 1000);
    let mut identity = vec![7; 64 * 1024];
    let ask = |identity: &[u8]| store.acquire_now(&policy, identity, Cost::ONE).unwrap();
    assert_eq!(ask(&identity), admitted(1, 0, 1001));
    assert_eq!(ask(&identity), denied(0, 1001));
    *identity.last_mut().unwrap() = 8;
    assert_eq!(ask(&identity), admitted(1, 0, 1001));
}

#[test]
fn a_window_of_one_millisecond_contains_two_instants() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("edges/1ms", 1, 1);
    let ask = || store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
    assert_eq!(ask(), admitted(1, 0, 2));
    assert_eq!(ask(), denied(0, 2));
    advance(&clock, 1);
    assert_eq!(ask(), denied(0, 1));
    advance(&clock, 1);
    assert_eq!(ask(), admitted(1, 0, 2));
}

#[test]
fn lengths_from_half_a_second_to_a_year_end_to_the_millisecond() {
    const DAY: u64 = 24 * 3_600_000;
    for length in [500, 31 * DAY, 365 * DAY, 366 * DAY] {
        let clock = manual_clock();
        let store = store_of(1, &clock);
        let policy = policy(&format!("edges/{length}"), 1, length);
        let ask = || store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
        assert_eq!(ask(), admitted(1, 0, length + 1));
        advance(&clock, length);
        assert_eq!(
            ask(),
            denied(0, 1),
            "{length} ms later it is the same window"
        );
        advance(&clock, 1);
        assert_eq!(ask(), admitted(1, 0, length + 1));
    }
}

#[test]
fn an_acquire_whose_future_is_dropped_before_its_first_poll_charges_nothing() {
    let store = store_of(1, &manual_clock());
    let policy = policy("edges/dropped", 1, 1000);
    let request = Acquire::of(&policy, "alice", Cost::ONE);
    drop(store.acquire(&request));
    assert_eq!(store.peek_now(&policy, "alice").unwrap().total, 0);
    assert!(store.is_empty());
}

#[test]
fn a_million_idle_budgets_are_gone_an_hour_later() {
    const MILLION: u64 = 1_000_000;
    let clock = manual_clock();
    let store = store_of(2_000_000, &clock);
    let policy = policy("edges/million", 5, 60_000);
    for who in 0..MILLION {
        let _ = store.acquire_now(&policy, who, Cost::ONE).unwrap();
    }
    assert_eq!(store.len(), 1_000_000);
    advance(&clock, 3_600_000);
    // Each who arrives now looks at two records of its shard, and finds nothing of before.
    for who in 0..MILLION / 2 {
        let outcome = store.acquire_now(&policy, who, Cost::ONE).unwrap();
        assert_eq!(outcome, admitted(1, 4, 60_001));
    }
    // Shards are not filled evenly, so a few are left for whoever looks at all of them.
    let left = store.len() - 500_000;
    assert!(left < 10_000, "{left}");
    assert_eq!(store.remove_expired(usize::MAX), left);
    assert_eq!(store.len(), 500_000);
}

#[test]
fn a_clock_that_steps_back_11_s_gives_no_credit_and_the_wait_grows_by_as_much() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("edges/back", 1, 1000);
    let ask = || store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
    assert_eq!(ask(), admitted(1, 0, 1001));
    set_back(&clock, 11_000);
    assert_eq!(ask(), denied(0, 12_001));
    advance(&clock, 12_000);
    assert_eq!(ask(), denied(0, 1));
    advance(&clock, 1);
    assert_eq!(ask(), admitted(1, 0, 1001));
}

#[test]
fn a_window_that_was_seen_to_end_stays_over_when_the_clock_steps_back() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("edges/over", 1, 1000);
    let ask = |who: &str| store.acquire_now(&policy, who, Cost::ONE).unwrap();
    assert_eq!(ask("removed"), admitted(1, 0, 1001));
    assert_eq!(ask("kept"), admitted(1, 0, 1001));
    advance(&clock, 1001);
    assert_eq!(store.remove_expired(1), 1);
    set_back(&clock, 500);
    // Whether an entry was removed cannot be told from outside: both open at the store's instant,
    // which the clock will show in 500 ms.
    assert_eq!(ask("removed"), admitted(1, 0, 1501));
    assert_eq!(ask("kept"), admitted(1, 0, 1501));
    assert_eq!(ask("kept"), denied(0, 1501));
}

#[test]
fn a_clock_beyond_the_storable_years_is_unavailable_and_does_not_become_store_time() {
    let clock = manual_clock();
    let store = store_of(10, &clock);
    let policy = policy("edges/beyond", 5, 1000);
    let start = limiter_core::Clock::now(&clock);
    clock.set(Timestamp::from_millis(u64::MAX));
    let error = store.acquire_now(&policy, "alice", Cost::ONE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(store.peek_now(&policy, "alice").is_err());
    clock.set(start);
    let outcome = store.acquire_now(&policy, "alice", Cost::ONE).unwrap();
    assert_eq!(outcome, admitted(1, 4, 1001));
}

#[test]
fn a_builder_names_what_is_out_of_bounds() {
    for shards in [0, 1, 3, 32_768] {
        let error = MemoryStore::builder().shards(shards).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("2 to 16384"), "{error}");
    }
    let builder = MemoryStore::builder().capacity(9).reserve(10);
    let error = builder.build().unwrap_err();
    assert!(error.message().contains("up to the capacity, 9"), "{error}");
}
