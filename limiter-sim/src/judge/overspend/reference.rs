//! The judge against its own definition: every reading of small histories, one by one. And tests of
//! that test: a judge that is wrong in one point does not pass it.

use std::collections::BTreeSet;

use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

use super::max_admitted;

/// Admissions, untold charges, window, cost.
type History = (Vec<(u64, u64)>, Vec<u64>, u64, u64);

type Judge = fn(&[(u64, u64)], &[u64], u64, u64) -> u64;

/// The smallest, over all readings, of the largest window's sum: by trying every set of openers, and
/// every way to share what happened on an edge.
fn by_definition(admissions: &[(u64, u64)], untold: &[u64], window_ms: u64, cost: u64) -> u64 {
    let told = admissions.iter().map(|(at, _)| *at);
    let instants: Vec<u64> = BTreeSet::from_iter(told.chain(untold.iter().copied()))
        .into_iter()
        .collect();
    let readings = (0_u32..1 << instants.len()).map(|set| {
        let chosen = instants
            .iter()
            .enumerate()
            .filter(|(number, _)| set >> number & 1 == 1);
        chosen.map(|(_, instant)| *instant).collect::<Vec<u64>>()
    });
    readings
        .filter(|openers| {
            openers
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= window_ms)
        })
        .filter_map(|openers| {
            let sums = vec![0; openers.len()];
            kindest(&openers, sums, admissions, window_ms, cost)
        })
        .min()
        .expect("the first admission, and whatever comes after each window, is always a reading")
}

/// The least that the fullest window can have once `rest` is counted as well; `None` where one of
/// them lies in no window.
fn kindest(
    openers: &[u64],
    sums: Vec<u64>,
    rest: &[(u64, u64)],
    window_ms: u64,
    cost: u64,
) -> Option<u64> {
    let Some(((at, units), rest)) = rest.split_first() else {
        return Some(sums.into_iter().max().unwrap_or(0));
    };
    let contains = |opener: &u64| *opener <= *at && *at <= opener + window_ms;
    let windows: Vec<usize> = (0..openers.len())
        .filter(|number| contains(&openers[*number]))
        .collect();
    let shares: Vec<Vec<(usize, u64)>> = match windows[..] {
        [] => return None,
        [only] => vec![vec![(only, *units)]],
        [earlier, later] => (0..=units / cost)
            .map(|calls| vec![(earlier, calls * cost), (later, units - calls * cost)])
            .collect(),
        _ => unreachable!("openers are a window apart"),
    };
    let outcomes = shares.into_iter().filter_map(|shares| {
        let mut sums = sums.clone();
        for (window, units) in shares {
            sums[window] += units;
        }
        kindest(openers, sums, rest, window_ms, cost)
    });
    outcomes.min()
}

fn histories() -> impl Strategy<Value = History> {
    let numbers = (1_u64..7, 1_u64..4, 3_u64..22);
    numbers.prop_flat_map(|(window_ms, cost, span)| {
        let admissions = btree_map(0..span, 1_u64..5, 0..8);
        let untold = btree_set(0..span, 0..4);
        (admissions, untold).prop_map(move |(admissions, untold)| {
            let admissions = admissions.into_iter().map(|(at, calls)| (at, calls * cost));
            (
                admissions.collect(),
                untold.into_iter().collect(),
                window_ms,
                cost,
            )
        })
    })
}

/// The check: the same figure as by definition, on thousands of histories. The histories are the
/// same each time, so that the tests below say the same each time.
fn agrees_with_the_definition(judge: Judge) -> Result<(), TestError<History>> {
    let config = Config {
        cases: 6000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    runner.run(&histories(), |(admissions, untold, window_ms, cost)| {
        prop_assert_eq!(
            judge(&admissions, &untold, window_ms, cost),
            by_definition(&admissions, &untold, window_ms, cost)
        );
        Ok(())
    })
}

#[test]
fn the_judge_agrees_with_its_definition_on_thousands_of_histories() {
    agrees_with_the_definition(max_admitted).unwrap();
}

/// What a mutant must not survive.
fn is_noticed(mutant: Judge) {
    assert!(agrees_with_the_definition(mutant).is_err());
}

#[test]
fn a_judge_for_which_the_edge_is_past_the_window_is_noticed() {
    is_noticed(|admissions, untold, window_ms, cost| match window_ms {
        1 => max_admitted(admissions, untold, 1, cost),
        _ => max_admitted(admissions, untold, window_ms - 1, cost),
    });
}

#[test]
fn a_judge_for_which_the_window_is_a_millisecond_longer_is_noticed() {
    is_noticed(|admissions, untold, window_ms, cost| {
        max_admitted(admissions, untold, window_ms + 1, cost)
    });
}

#[test]
fn a_judge_that_takes_any_opener_is_noticed() {
    is_noticed(|admissions, untold, window_ms, cost| {
        let every_ms: Vec<u64> = (0..=admissions.last().map_or(0, |(at, _)| *at)).collect();
        max_admitted(admissions, &[untold, &every_ms].concat(), window_ms, cost)
    });
}

#[test]
fn a_judge_that_takes_only_told_openers_is_noticed() {
    is_noticed(|admissions, _, window_ms, cost| max_admitted(admissions, &[], window_ms, cost));
}

#[test]
fn a_judge_that_divides_a_call_between_two_windows_is_noticed() {
    is_noticed(|admissions, untold, window_ms, _| max_admitted(admissions, untold, window_ms, 1));
}

#[test]
fn a_judge_that_counts_all_that_was_ever_admitted_is_noticed() {
    is_noticed(|admissions, _, _, _| admissions.iter().map(|(_, units)| units).sum());
}

#[test]
fn a_judge_that_only_looks_at_instants_is_noticed() {
    is_noticed(|admissions, _, _, _| {
        admissions
            .iter()
            .map(|(_, units)| *units)
            .max()
            .unwrap_or(0)
    });
}
