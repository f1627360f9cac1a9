//! Tokens replay what they were made of, or say where they do not.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::{Token, shrink};
use crate::report::Exploration;
use crate::scenario::Scenario;
use crate::subject::{catalogue, named};
use crate::world::{Action, EPOCH_MS, Fault, Way};

fn found(store: &str, fault: Fault) -> Exploration {
    let store = named(store).expect("in the catalogue");
    let scenario = Scenario::new(store).workers(4).limit(1).fault(fault, 1);
    scenario.explore().expect("client code does not drift")
}

fn token(of: &Exploration) -> Token {
    let text = of.token.as_ref().expect("it is violated");
    text.parse().expect("a token that was just made")
}

/// Takes the token again, in a scenario made of nothing but its text.
fn replay(token: &Token) -> Result<super::Replay, String> {
    let token: Token = token
        .to_string()
        .parse()
        .map_err(|error| format!("{error}"))?;
    token.replay(&token.scenario(None)?)
}

const VIOLATED: [(&str, Fault); 9] = [
    ("split", Fault::LostReply),
    ("atomic-window", Fault::Evict),
    ("atomic-window", Fault::Restart),
    ("atomic-window", Fault::Failover),
    ("atomic-window", Fault::SplitBrain),
    ("watch-multi", Fault::ClockJump),
    ("increment-then-expire", Fault::ClientCrash),
    ("replica-read", Fault::StaleRead),
    ("fail-open", Fault::OutOfMemory),
];

#[test]
fn a_token_replays_the_worst_that_was_found() {
    for (store, fault) in VIOLATED {
        let found = found(store, fault);
        let figures = replay(&token(&found)).unwrap().figures;
        if found.overspend > 0 {
            assert_eq!(
                figures.max_admitted, found.max_admitted,
                "{store} under {fault}"
            );
        } else {
            assert!(figures.immortal || figures.stuck, "{store} under {fault}");
        }
    }
}

#[test]
fn a_counter_that_a_crash_left_is_told_with_the_crash() {
    let split = named("split").expect("in the catalogue");
    let alone = Scenario::new(split).workers(1).fault(Fault::ClientCrash, 1);
    let alone = alone.explore().expect("client code does not drift");
    assert!(alone.immortal);
    let replay = replay(&token(&alone)).expect("it does not drift");
    let told: Vec<&str> = replay
        .steps
        .iter()
        .map(|step| step.command.as_str())
        .collect();
    assert_eq!(told, ["GET budget", "INCR budget", "client-crash"]);
}

#[test]
fn nothing_is_left_behind_while_an_attempt_is_under_way() {
    let split = named("split").expect("in the catalogue");
    let scenario = Scenario::new(split).workers(1).fault(Fault::ClientCrash, 1);
    let go = Action::Go {
        process: 0,
        lane: 0,
        way: Way::Through,
    };
    let replay = super::replay::replay(&scenario, &[go, go]).expect("both are possible");
    assert!(!replay.figures.immortal, "its PEXPIRE may follow");
}

#[test]
fn a_step_that_does_something_else_than_it_did_is_named() {
    for (store, fault) in VIOLATED {
        let token = token(&found(store, fault));
        for step in 0..token.steps.len() {
            // What is printed has a check sum of its own, so only the digits of this step are wrong.
            let mut drifted = token.clone();
            drifted.steps[step].1 ^= 1;
            let error = replay(&drifted).expect_err("it drifts");
            let names_the_step = format!("step {} ({})", step + 1, token.steps[step].0);
            assert!(error.contains(&names_the_step), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}

#[test]
fn a_step_that_is_not_possible_is_named() {
    let token = token(&found("split", Fault::LostReply));
    let mut impossible = token.clone();
    let last = token.steps[token.steps.len() - 1];
    impossible.steps.extend([last; 8]);
    let error = replay(&impossible).expect_err("nobody has so many steps");
    assert!(error.contains("is not possible there"), "{error}");
}

#[test]
fn a_token_of_a_store_that_is_not_here_says_so() {
    let mut token = token(&found("split", Fault::LostReply));
    token.subject = "gone".to_owned();
    let error = replay(&token).expect_err("there is no such store");
    assert!(error.contains("\"gone\""), "{error}");
}

#[test]
fn a_token_with_numbers_out_of_bounds_says_so() {
    let mut token = token(&found("split", Fault::LostReply));
    token.parameters.workers = 65;
    let error = replay(&token).expect_err("there are 64 workers at most");
    assert!(error.contains("workers"), "{error}");
}

static TEMPLATE: LazyLock<Token> = LazyLock::new(|| token(&found("split", Fault::LostReply)));

/// Any step that a token can name, near what is possible and far from it.
fn steps() -> impl Strategy<Value = Action> {
    let small = || 0_u16..5;
    let count = || prop_oneof![0_u32..6, Just(u32::MAX)];
    let by_ms = || prop_oneof![-3000_i64..3000, Just(i64::MAX), Just(i64::MIN + 1)];
    let way = prop::sample::select(vec![
        Way::Through,
        Way::LostRequest,
        Way::LostReply,
        Way::LateReply,
        Way::Crash,
        Way::ToOld,
    ]);
    let go =
        (small(), 0_u16..2, way).prop_map(|(process, lane, way)| Action::Go { process, lane, way });
    prop_oneof![
        6 => go,
        1 => small().prop_map(|process| Action::Arrive { process }),
        1 => prop_oneof![0_u64..4000, Just(1 << 53), Just(u64::MAX - EPOCH_MS)]
            .prop_map(|after| Action::Advance { to: EPOCH_MS + after }),
        1 => small().prop_map(|process| Action::Crash { process }),
        1 => small().prop_map(|process| Action::Reboot { process }),
        1 => (small(), by_ms()).prop_map(|(process, by_ms)| Action::ProcessClock { process, by_ms }),
        1 => (0_u16..2, 0_u16..2).prop_map(|(node, key)| Action::Evict { node, key }),
        1 => (0_u16..3).prop_map(|node| Action::Full { node }),
        1 => (0_u16..3).prop_map(|node| Action::Freed { node }),
        1 => (0_u16..3).prop_map(|node| Action::FlushScripts { node }),
        1 => (0_u16..3, count()).prop_map(|(node, kept)| Action::Restart { node, kept }),
        1 => (0_u16..3, count()).prop_map(|(node, kept)| Action::PowerLoss { node, kept }),
        1 => count().prop_map(|received| Action::Failover { received }),
        1 => count().prop_map(|received| Action::SplitBrain { received }),
        1 => (0_u16..3, by_ms()).prop_map(|(node, by_ms)| Action::NodeClock { node, by_ms }),
        1 => prop::sample::select(vec![Action::SlowDisk, Action::Heal, Action::Stall, Action::CatchUp]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A token with a right check sum can name any steps. Those that are possible are taken, the
    /// first that is not is named, and nothing panics.
    #[test]
    fn any_steps_are_taken_or_refused(
        store in prop::sample::select(catalogue()),
        steps in prop::collection::vec(steps(), 0..30),
    ) {
        let token = Token {
            subject: store.name().to_owned(),
            steps: steps.iter().map(|step| (*step, 0)).collect(),
            ..TEMPLATE.clone()
        };
        let text = token.to_string();
        let read: Token = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!(&read, &token);
        if let Err(error) = replay(&token) {
            prop_assert_eq!(error.lines().count(), 1, "{}", error);
        }
        // The same with those left out that are not possible where they stand.
        let scenario = token.scenario(None).map_err(TestCaseError::fail)?;
        let shrunk = shrink(&scenario, &steps);
        prop_assert!(shrunk.len() <= steps.len());
        let taken = super::replay(&scenario, &shrunk);
        prop_assert!(taken.is_ok(), "{:?}: {:?}", shrunk, taken);
    }
}
