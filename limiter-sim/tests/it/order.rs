//! Answers that no order of the calls explains.

use std::sync::Arc;

use limiter_sim::{Client, Outcome, Scenario};

use crate::support::exhaust;

/// Denies every second attempt, whether there is room or not.
fn moody() -> Client {
    Client::new("moody", "denies every second attempt", |env| async move {
        match env.attempt() % 2 {
            0 if env.parameters().limit > 0 => Outcome::Admitted,
            _ => Outcome::Denied,
        }
    })
}

#[test]
fn a_store_that_denies_although_there_is_room_is_violated() {
    let scenario = |moody| {
        Scenario::new(Arc::new(moody))
            .workers(1)
            .attempts(2)
            .limit(5)
    };
    let found = exhaust(&scenario(moody()));
    assert_eq!(
        (found.verdict, found.linearizes, found.overspend),
        ("violated", false, 0)
    );
    assert!(found.token.is_some());
    assert!(
        found.story.contains("no order of its calls explains"),
        "{}",
        found.story
    );
    let found = exhaust(&scenario(moody().unordered("it is moody by design")));
    assert_eq!((found.verdict, found.linearizes), ("proved", true));
}
