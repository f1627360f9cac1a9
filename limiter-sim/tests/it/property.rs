//! Parameters from proptest, schedules from the search: both shrink, each in its own way. A failing
//! case is told with the smallest parameters, and for these with the shortest history.

use limiter_sim::{Fault, Scenario, named};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn one_script_never_admits_more_than_the_limit_for_each_loss(
        workers in 1..=5_usize,
        attempts in 1..=2_u32,
        limit in 0..=4_u64,
        cost in 1..=3_u64,
        evictions in 0..=2_u32,
    ) {
        let subject = named("atomic-window").unwrap();
        let scenario = Scenario::new(subject)
            .workers(workers)
            .attempts(attempts)
            .limit(limit)
            .cost(cost)
            .fault(Fault::Evict, evictions);
        let found = scenario.explore().unwrap();
        let asked = workers as u64 * u64::from(attempts) * cost;
        let bound = (1 + u64::from(evictions)) * (limit / cost * cost);
        prop_assert!(found.exhausted);
        prop_assert_eq!(found.max_admitted, asked.min(bound), "{}", found.story);
    }
}
