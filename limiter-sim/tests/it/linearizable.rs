//! Without faults, callers are told what some order of single decisions tells.

use std::sync::Arc;

use limiter_sim::{Client, Endpoint, Env, Outcome, Scenario};

use crate::support::explore;

/// INCR, and a denial from the second half of the limit on: room is left that nobody gets.
async fn half_as_many(env: Env) -> Outcome {
    let mut connection = env.connect(Endpoint::Primary);
    let script = "local n = redis.call('INCR', KEYS[1]) \
                  if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end return n";
    let reply = redis::cmd("EVAL")
        .arg(script)
        .arg(1)
        .arg("budget")
        .arg(env.parameters().window_ms)
        .query_async::<u64>(&mut connection)
        .await;
    match reply {
        Ok(total) if total <= env.parameters().limit / 2 => Outcome::Admitted,
        Ok(_) => Outcome::Denied,
        Err(_) => Outcome::Failed,
    }
}

fn denies_too_much() -> Client {
    Client::new("half", "denies from half of the limit on", half_as_many)
}

#[test]
fn a_store_that_denies_although_there_is_room_is_violated() {
    let found = explore(
        &Scenario::new(Arc::new(denies_too_much()))
            .workers(3)
            .limit(4),
    );
    assert_eq!((found.verdict, found.linearizable), ("violated", false));
    assert_eq!(
        (found.overspend, found.immortal, found.recovered),
        (0, false, true)
    );
    assert!(found.token.is_some());
    assert!(
        found.story.contains("no order of single decisions"),
        "{}",
        found.story
    );
}

#[test]
fn a_store_that_denies_early_by_its_own_rule_is_not_asked() {
    let store = denies_too_much().denying_early();
    let found = explore(&Scenario::new(Arc::new(store)).workers(3).limit(4));
    assert_eq!((found.verdict, found.linearizable), ("proved", true));
}

#[test]
fn the_history_is_shrunk_to_what_shows_it() {
    let found = explore(
        &Scenario::new(Arc::new(denies_too_much()))
            .workers(6)
            .limit(4),
    );
    let token = found.token.expect("a token");
    // Two fill the half of the limit, and the third is denied.
    assert_eq!(token.matches('~').count(), 3, "{token}");
}
