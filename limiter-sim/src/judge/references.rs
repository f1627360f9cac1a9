//! The judges against their own definitions: unit by unit, every interval, every reading of small
//! histories. And tests of that test: a judge that is wrong in one point does not pass it.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use super::{Change, Entry, aligned, bucket, first_arrival, in_flight, rolling};

/// One unit: when it was admitted, and from which entry up to which one it stands.
#[derive(Clone, Copy)]
struct Unit {
    at: u64,
    from: usize,
    until: usize,
}

fn units(history: &[Entry]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (place, entry) in history.iter().enumerate() {
        match entry.change {
            Change::Admitted(count) => {
                let (at, from, until) = (entry.at, place, usize::MAX);
                units.extend((0..count).map(|_| Unit { at, from, until }));
            }
            Change::GivenBack {
                units: count,
                admitted_at,
            } => {
                let of = |unit: &&mut Unit| unit.at == admitted_at && unit.until == usize::MAX;
                let given = units.iter_mut().filter(of);
                let count = usize::try_from(count).unwrap();
                given.take(count).for_each(|unit| unit.until = place);
            }
        }
    }
    units
}

/// The most that stood at once of the units that `counts` picks, told the place in the history.
fn most(history: &[Entry], counts: impl Fn(usize, u64) -> bool) -> u64 {
    let units = units(history);
    let places = 0..history.len();
    let sums = places.map(|place| {
        let stands = |unit: &&Unit| unit.from <= place && place < unit.until;
        let counted = units.iter().filter(stands);
        counted.filter(|unit| counts(place, unit.at)).count() as u64
    });
    sums.max().unwrap_or(0)
}

/// A history and its numbers.
#[derive(Clone, Debug)]
struct Case {
    history: Vec<Entry>,
    untold: Vec<u64>,
    length: u64,
    limit: u64,
    clock_was_set: bool,
}

const SPAN: u64 = 11;

fn rolling_by_definition(case: &Case) -> u64 {
    let intervals = (0..=SPAN).map(|start| {
        let inside = start..=start + case.length;
        most(&case.history, |_, at| inside.contains(&at))
    });
    intervals.max().unwrap_or(0)
}

fn in_flight_by_definition(case: &Case) -> u64 {
    let lasts = |place: usize, at: u64| {
        let now = case.history[place].at;
        (at..=at + case.length).contains(&now)
    };
    most(&case.history, lasts)
}

fn bucket_by_definition(case: &Case) -> u64 {
    let (limit, length) = (case.limit, case.length);
    let intervals = (0..=SPAN).flat_map(|start| (start..=SPAN).map(move |end| (start, end)));
    let out = intervals.map(|(start, end)| {
        let admitted = most(&case.history, |_, at| (start..=end).contains(&at));
        (admitted * length).saturating_sub(limit * (end - start))
    });
    out.max().unwrap_or(0).div_ceil(length)
}

fn aligned_by_definition(case: &Case) -> u64 {
    let length = case.length;
    let readings: Vec<Vec<u64>> = if case.clock_was_set {
        let sets = (0_u32..1 << SPAN).map(|set| (0..SPAN).filter(move |ms| set >> ms & 1 == 1));
        sets.map(Iterator::collect).collect()
    } else {
        vec![(0..=SPAN).filter(|ms| ms % length == 0).collect()]
    };
    let long_enough = |cuts: &&Vec<u64>| cuts.windows(2).all(|two| two[1] - two[0] >= length);
    let worst = readings.iter().filter(long_enough).map(|cuts| {
        let window = |at: u64| cuts.iter().filter(|cut| **cut <= at).count();
        let windows =
            (0..=cuts.len()).map(|number| most(&case.history, |_, at| window(at) == number));
        windows.max().unwrap_or(0)
    });
    worst.min().unwrap_or(0)
}

fn first_arrival_by_definition(case: &Case) -> u64 {
    let told = case.history.iter().filter_map(|entry| match entry.change {
        Change::Admitted(_) => Some(entry.at),
        Change::GivenBack { .. } => None,
    });
    let mut instants: Vec<u64> = told.chain(case.untold.iter().copied()).collect();
    instants.sort_unstable();
    instants.dedup();
    let readings = (0_u32..1 << instants.len()).map(|set| {
        let chosen = instants.iter().enumerate();
        let chosen = chosen.filter(|(number, _)| set >> number & 1 == 1);
        chosen.map(|(_, at)| *at).collect::<Vec<u64>>()
    });
    let long_enough = |openers: &Vec<u64>| {
        let mut pairs = openers.windows(2);
        pairs.all(|two| two[1] - two[0] >= case.length)
    };
    let worst = readings
        .filter(long_enough)
        .filter_map(|openers| kindest(&openers, case, 0, 0, &[]));
    worst.min().unwrap_or(0)
}

/// The least that the fullest window has, once `window` holds `inside` and the rest is shared.
fn kindest(
    openers: &[u64],
    case: &Case,
    place: usize,
    window: usize,
    inside: &[Entry],
) -> Option<u64> {
    let Some(entry) = case.history.get(place) else {
        return Some(most(inside, |_, _| true));
    };
    let contains = |window: usize| {
        let is_refund = matches!(entry.change, Change::GivenBack { .. });
        let within = |opener: u64| opener <= entry.at && entry.at <= opener + case.length;
        is_refund || openers.get(window).is_some_and(|opener| within(*opener))
    };
    let stays = contains(window).then(|| {
        let inside = [inside, &[*entry]].concat();
        kindest(openers, case, place + 1, window, &inside)
    });
    let goes_on = openers.get(window).and_then(|_| {
        let rest = kindest(openers, case, place, window + 1, &[])?;
        Some(rest.max(most(inside, |_, _| true)))
    });
    stays.flatten().into_iter().chain(goes_on).min()
}

fn cases() -> impl Strategy<Value = Case> {
    let change = (0..SPAN, 1_u64..3, prop::option::weighted(0.35, 0_usize..4));
    let changes = prop::collection::vec(change, 1..7);
    let untold = prop::collection::vec(0..SPAN, 0..2);
    let numbers = (1_u64..5, 1_u64..5, any::<bool>());
    (changes, untold, numbers).prop_map(|(mut changes, mut untold, numbers)| {
        changes.sort_by_key(|(at, _, _)| *at);
        untold.sort_unstable();
        let mut history: Vec<Entry> = Vec::new();
        for (at, units, back) in changes {
            let mut earlier = history.iter().filter_map(|entry| match entry.change {
                Change::Admitted(_) => Some(entry.at),
                Change::GivenBack { .. } => None,
            });
            match back.and_then(|number| earlier.nth(number)) {
                Some(admitted_at) => history.push(Entry::given_back(at, units, admitted_at)),
                // One unit for each entry: a call is not divided between two windows.
                None => history.extend((0..units).map(|_| Entry::admitted(at, 1))),
            }
        }
        let (length, limit, clock_was_set) = numbers;
        Case {
            history,
            untold,
            length,
            limit,
            clock_was_set,
        }
    })
}

type Judge = fn(&Case) -> u64;

/// The check: the same figure as by definition, on thousands of histories, the same each time.
fn agrees(judge: Judge, by_definition: Judge) -> Result<(), TestError<Case>> {
    let config = Config {
        cases: 1500,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng).run(&cases(), |case| {
        prop_assert_eq!(judge(&case), by_definition(&case));
        Ok(())
    })
}

fn judge_rolling(case: &Case) -> u64 {
    rolling(&case.history, case.length)
}

fn judge_in_flight(case: &Case) -> u64 {
    in_flight(&case.history, case.length)
}

fn judge_bucket(case: &Case) -> u64 {
    bucket(&case.history, case.limit, case.length)
}

fn judge_aligned(case: &Case) -> u64 {
    aligned(&case.history, case.length, case.clock_was_set)
}

fn judge_first_arrival(case: &Case) -> u64 {
    first_arrival(&case.history, &case.untold, case.length, 1)
}

const JUDGES: [(&str, Judge, Judge); 5] = [
    ("rolling", judge_rolling, rolling_by_definition),
    ("in-flight", judge_in_flight, in_flight_by_definition),
    ("bucket", judge_bucket, bucket_by_definition),
    ("aligned", judge_aligned, aligned_by_definition),
    (
        "first-arrival",
        judge_first_arrival,
        first_arrival_by_definition,
    ),
];

#[test]
fn every_judge_agrees_with_its_definition_on_thousands_of_histories() {
    for (name, judge, by_definition) in JUDGES {
        agrees(judge, by_definition).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

mod mutants;
