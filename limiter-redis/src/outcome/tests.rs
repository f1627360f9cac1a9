//! Replies that no script gives are not read, whatever they look like.

use limiter_core::{Cost, ErrorKind, Policy};

use super::*;
use crate::key::KeyLayout;

fn request() -> Acquire {
    let built = Policy::named("bucket").scope("s").limit(5).refundable();
    let policy = built.token_bucket(Duration::from_secs(5), 5);
    Acquire::of(&policy.build().unwrap(), "alice", Cost::ONE)
}

fn read_as_decision(reply: &str) -> Result<Decision, Error> {
    let request = request();
    let place = Place::of_request(&KeyLayout::default(), &request).unwrap();
    let value = redis::parse_redis_value(reply.replace(' ', "\r\n").as_bytes()).unwrap();
    decision(&request, place, &value)
}

#[test]
fn an_admission_has_five_values_for_each_charge() {
    let decision = read_as_decision("*6 :1 :2 :3 :4000 $13 1700000000000 :0 ").unwrap();
    let grants = decision.admitted().unwrap().into_grants();
    let grant = { grants }.next().unwrap();
    assert_eq!((grant.total, grant.remaining), (2, 3));
    let receipt = grant.receipt.unwrap();
    let instant = receipt.window().instant();
    assert_eq!(instant, Some(Timestamp::from_millis(1_700_000_000_000)));
}

#[test]
fn a_denial_has_three_values_for_each_budget_that_denied() {
    let denial = read_as_decision("*4 :0 :1 :3 :-1 ").unwrap();
    let denial = denial.denied().unwrap();
    assert_eq!(denial.wait(), Wait::Never);
    assert_eq!(denial.refusals()[0].remaining, 3);
}

#[test]
fn damage_and_misuse_are_errors_that_charged_nothing() {
    let error = read_as_decision("*3 :-1 :1 $3 odd ").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("\"bucket\""), "{error}");
    let error = read_as_decision("*3 :-1 :0 $3 odd ").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let error = read_as_decision("*2 :-2 $3 why ").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Invalid, "why"));
}

#[test]
fn what_no_script_says_is_uncertain() {
    for reply in [
        "$-1 ",
        ":1 ",
        "*0 ",
        "*1 :1 ",
        "*1 :0 ",
        "*1 :-1 ",
        "*1 :7 ",
        "*2 :-2 :1 ",
        "*2 :-1 :1 ",
        "*3 :-1 :2 $3 odd ",
        "*4 :0 :2 :3 :1 ",
        "*4 :0 :1 :3 :0 ",
        "*4 :0 :1 :-3 :1 ",
        "*6 :1 :2 :3 :0 $1 7 :0 ",
        "*6 :1 :2 :3 :1 $1 x :0 ",
        "*6 :1 :2 :3 :1 :7 :0 ",
        "*6 :1 :9007199254740992 :3 :1 $1 7 :0 ",
        "*7 :1 :2 :3 :1 $1 7 :0 :0 ",
    ] {
        let error = read_as_decision(reply).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Uncertain, "{reply}");
    }
}
