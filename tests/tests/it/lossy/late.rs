//! Replies that come late, or in small pieces.

use std::time::Duration;

use limiter_core::{BudgetStore, ErrorKind};
use limiter_tests::{Direction, Fate, Fault, on_every_server};

use super::line::{Line, SOON};
use crate::support::{one_of, total};

/// How long clients wait for an answer that comes later.
const BRIEF: Duration = Duration::from_millis(40);

#[test]
fn a_late_reply_is_not_taken_for_the_answer_to_the_next_request() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        for after in [0, 1, 5] {
            let store = line.store(BRIEF).await;
            let direction = Direction::Reply;
            line.proxy.arm(Fault {
                direction,
                after,
                fate: Fate::Hold,
            });
            let error = store.acquire(&one_of(&line.budget)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Uncertain, "{program}: {error}");
            line.proxy.release();
            for _ in 0..3 {
                if let Ok(decision) = store.acquire(&one_of(&line.budget)).await {
                    assert_eq!(total(decision), line.charged(), "{program}");
                }
            }
        }
    });
}

#[test]
fn requests_and_replies_that_come_byte_by_byte_are_whole_all_the_same() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        line.proxy.one_by_one(true);
        let store = line.store(SOON).await;
        for expected in 2..12 {
            assert_eq!(
                total(store.acquire(&one_of(&line.budget)).await.unwrap()),
                expected
            );
        }
        assert_eq!(line.charged(), 11, "{program}");
    });
}
