//! Requests and replies that are cut or swallowed, each on a connection of its own.

use std::time::Duration;

use limiter_core::{Error, ErrorKind};
use limiter_tests::{Direction, Fate, Fault, on_every_server};

use super::line::{Line, Outcome, SOON, struck};

/// How long clients wait for an answer that does not come.
const BRIEF: Duration = Duration::from_millis(40);

/// Strikes after every `step`-th byte in `direction`, and returns how many outcomes were charged.
async fn after_every(
    line: &Line,
    (direction, fate): (Direction, Fate),
    step: usize,
    prepare: impl AsyncFn(),
) -> Vec<Outcome> {
    let patience = if fate == Fate::Cut { SOON } else { BRIEF };
    let mut outcomes = Vec::new();
    for after in (0..).step_by(step) {
        prepare().await;
        let fault = Fault {
            direction,
            after,
            fate,
        };
        let Some(outcome) = struck(line, fault, patience).await else {
            break;
        };
        outcome.assert_true(&format!("{}, {fault:?}", line.server.program()));
        outcomes.push(outcome);
    }
    outcomes
}

fn charged(outcomes: &[Outcome]) -> usize {
    outcomes
        .iter()
        .filter(|outcome| outcome.charged == 1)
        .count()
}

#[test]
fn a_request_cut_after_any_byte_is_charged_only_if_all_of_it_had_passed() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let cut = (Direction::Request, Fate::Cut);
        let outcomes = after_every(&line, cut, 1, async || {}).await;
        assert!(outcomes.len() > 100, "{program}: {} bytes", outcomes.len());
        // The last one struck behind the last byte.
        assert_eq!(charged(&outcomes), 1, "{program}");
        assert_eq!(outcomes.last().unwrap().charged, 1, "{program}");
        assert!(outcomes.iter().all(|outcome| outcome.told.is_err()));
    });
}

#[test]
fn a_reply_cut_after_any_byte_is_uncertain_and_was_charged() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let cut = (Direction::Reply, Fate::Cut);
        let outcomes = after_every(&line, cut, 1, async || {}).await;
        assert!(outcomes.len() > 10, "{program}: {} bytes", outcomes.len());
        assert_eq!(charged(&outcomes), outcomes.len(), "{program}");
        let (whole, parts) = outcomes.split_last().unwrap();
        assert!(
            whole.told.is_ok(),
            "{program}: a whole reply is an answer: {whole:?}"
        );
        for outcome in parts {
            let kind = outcome.told.as_ref().map_err(Error::kind);
            assert_eq!(kind, Err(ErrorKind::Uncertain), "{program}");
        }
    });
}

#[test]
fn a_request_or_a_reply_that_is_swallowed_is_uncertain() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        for (direction, step) in [(Direction::Request, 23), (Direction::Reply, 3)] {
            let lost = (direction, Fate::Swallow);
            let outcomes = after_every(&line, lost, step, async || {}).await;
            // The last one can have struck behind the last byte, and then nothing was lost.
            let lost: Vec<&Outcome> = outcomes.iter().filter(|o| o.told.is_err()).collect();
            assert!(lost.len() >= 4, "{program}, {direction:?}");
            assert!(lost.len() + 1 >= outcomes.len(), "{program}, {direction:?}");
            for outcome in lost {
                let executed = u64::from(direction == Direction::Reply);
                assert_eq!(outcome.charged, executed, "{program}, {direction:?}");
                let kind = outcome.told.as_ref().map_err(Error::kind);
                assert_eq!(kind, Err(ErrorKind::Uncertain), "{program}, {direction:?}");
            }
        }
    });
}

#[test]
fn a_script_that_has_to_be_sent_again_is_never_charged_twice_wherever_the_line_is_cut() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let flush = async || {
            let mut flush = redis::cmd("SCRIPT");
            flush.arg("FLUSH").exec(&mut line.server.admin()).unwrap();
        };
        for (direction, step) in [(Direction::Request, 17), (Direction::Reply, 1)] {
            let outcomes = after_every(&line, (direction, Fate::Cut), step, flush).await;
            assert!(
                outcomes.len() > 20,
                "{program}, {direction:?}: {}",
                outcomes.len()
            );
        }
    });
}
