//! One test per defect that was found, with a sentence on what went wrong.

use std::hash::{BuildHasherDefault, DefaultHasher, Hasher};

use limiter_core::{Acquire, Budget, Charge, Cost, Policy};
use limiter_memory::MemoryStore;

use crate::{advance, manual_clock, policy};

/// A hasher of 25 good bits: the seven with which a table tags its places are always the same.
#[derive(Clone, Default)]
struct SameTag(DefaultHasher);

impl Hasher for SameTag {
    fn finish(&self) -> u64 {
        self.0.finish() & ((1 << 25) - 1)
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }
}

/// A record removed any expired entry that its look-up came across. A table compares tags, not
/// hashes, so that could be a neighbour's; the entry itself was then left without a record, and
/// kept its place for ever.
#[test]
fn a_record_removes_its_own_entry_and_not_a_neighbour_with_the_same_tag() {
    const GENERATIONS: u64 = 50;
    let clock = manual_clock();
    let builder = MemoryStore::builder().capacity(1000).shards(2);
    let builder = builder.hasher(BuildHasherDefault::<SameTag>::default());
    let store = builder.clock(clock.clone()).build().unwrap();
    let policy = policy("regressions/tag", 1, 1000);
    for generation in 0..GENERATIONS {
        for who in 0..1000 {
            let who = generation * 1000 + who;
            let outcome = store.acquire_now(&policy, who, Cost::ONE);
            assert!(outcome.is_ok(), "{who}: {outcome:?}");
        }
        advance(&clock, 1001);
    }
    assert_eq!(store.remove_expired(usize::MAX), 1000);
    assert!(store.is_empty());
}

/// The first charge of a decision removed, in passing, an expired budget that a later charge of the
/// same decision was about to open anew: it was then stored without a place of its own.
#[test]
fn budgets_that_are_opened_anew_together_keep_their_places() {
    let clock = crate::manual_clock();
    let store = crate::store_of(100, &clock);
    let length = std::time::Duration::from_secs(1);
    let bucket = Policy::named("tested").scope("regressions/anew").limit(9);
    let bucket = bucket.token_bucket(length, 9).build().unwrap();
    for policy in [crate::policy("regressions/anew", 9, 1000), bucket] {
        let budgets = (0..16_u64).map(|who| Budget::of(&policy, who));
        let charges = budgets.map(|budget| Charge::new(budget, Cost::ONE));
        let request = Acquire::all(charges).unwrap();
        for _ in 0..5 {
            assert!(store.decide_now(&request).unwrap().is_admitted());
            assert_eq!(store.len(), 16);
            crate::advance(&clock, 1001);
        }
        assert_eq!(store.remove_expired(usize::MAX), 16);
        assert!(store.is_empty());
    }
}
