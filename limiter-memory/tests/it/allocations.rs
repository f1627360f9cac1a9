use std::hint::black_box;

use allocation_counter::measure;
use limiter_core::Cost;
use limiter_memory::MemoryStore;

use crate::{advance, manual_clock, policy, store_of};

#[test]
fn a_known_budget_and_a_denial_of_an_unknown_one_allocate_nothing() {
    let clock = manual_clock();
    let store = store_of(100, &clock);
    let policy = policy("allocations/none", 5, 1000);
    let long = "an identity of more than fifteen bytes";
    let one = |who: &str| black_box(store.acquire_now(&policy, who, Cost::ONE).is_ok());
    one("alice");
    one(long);
    let counted = measure(|| {
        for _ in 0..10 {
            one("alice");
            one(long);
            black_box(store.peek_now(&policy, "bob").is_ok());
            let above = crate::cost(6);
            black_box(store.acquire_now(&policy, "bob", above).is_ok());
            black_box(store.acquire_now(&policy, long, above).is_ok());
        }
    });
    assert_eq!(counted.count_total, 0);
    advance(&clock, 1001);
}

#[test]
fn a_million_budgets_with_short_identities_take_at_most_84_bytes_each() {
    let policy = policy("allocations/bytes", 5, 3_600_000);
    for budgets in [900_000, 1_000_000] {
        let clock = manual_clock();
        let mut stored = None;
        let counted = measure(|| {
            let builder = MemoryStore::builder().clock(clock.clone());
            let store = builder.build().unwrap();
            for who in 0..budgets {
                let who = 100_000_000_000_000_u64 + who;
                let _ = store.acquire_now(&policy, who, Cost::ONE).unwrap();
            }
            stored = Some(store);
        });
        let bytes = counted.bytes_current as f64 / budgets as f64;
        println!("{budgets} budgets: {bytes:.1} bytes each");
        assert!(bytes <= 84.0, "{bytes} bytes per budget");
    }
}
