//! Judges that are wrong in one point, each of which the definitions must notice.

use proptest::prelude::*;

use super::*;

/// Takes a judge through a world that is another one in some point: no judge may pass for its own.
fn is_noticed(change: fn(Case) -> Case) {
    for (name, judge, by_definition) in JUDGES {
        let config = Config {
            cases: 1500,
            failure_persistence: None,
            max_shrink_iters: 0,
            ..Config::default()
        };
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let passes = TestRunner::new_with_rng(config, rng).run(&cases(), |case| {
            prop_assert_eq!(judge(&change(case.clone())), by_definition(&case));
            Ok(())
        });
        assert!(passes.is_err(), "{name}");
    }
}

#[test]
fn judges_for_which_a_length_is_a_millisecond_longer_are_noticed() {
    is_noticed(|case| Case {
        length: case.length + 1,
        ..case
    });
}

#[test]
fn judges_for_which_a_length_is_a_millisecond_shorter_are_noticed() {
    is_noticed(|case| Case {
        length: (case.length - 1).max(1),
        ..case
    });
}

#[test]
fn judges_that_forget_refunds_are_noticed() {
    is_noticed(|mut case| {
        let is_admission = |entry: &Entry| matches!(entry.change, Change::Admitted(_));
        case.history.retain(is_admission);
        case
    });
}

#[test]
fn judges_for_which_a_refund_counts_from_the_date_of_its_admission_are_noticed() {
    is_noticed(|mut case| {
        for entry in &mut case.history {
            if let Change::GivenBack { admitted_at, .. } = entry.change {
                entry.at = admitted_at;
            }
        }
        case.history.sort_by_key(|entry| entry.at);
        case
    });
}

#[test]
fn judges_that_look_at_single_instants_are_noticed() {
    is_noticed(|mut case| {
        let last = case.history.last().map(|entry| entry.at);
        case.history.retain(|entry| Some(entry.at) == last);
        case
    });
}

#[test]
fn a_bucket_that_forgets_parts_of_units_is_noticed() {
    let rounds_down: Judge = |case| {
        let units = bucket(&case.history, case.limit, case.length);
        let exact = bucket(&case.history, case.limit + 1, case.length);
        units.min(exact)
    };
    assert!(agrees(rounds_down, bucket_by_definition).is_err());
}

#[test]
fn an_aligned_window_that_is_cut_anywhere_is_noticed() {
    let anywhere: Judge = |case| aligned(&case.history, case.length, true);
    assert!(agrees(anywhere, aligned_by_definition).is_err());
}

#[test]
fn a_first_arrival_window_that_opens_anywhere_is_noticed() {
    let anywhere: Judge = |case| {
        let every_ms: Vec<u64> = (0..SPAN).collect();
        first_arrival(&case.history, &every_ms, case.length, 1)
    };
    assert!(agrees(anywhere, first_arrival_by_definition).is_err());
}
