//! What a policy can be, and what its budgets are called.

use limiter_core::{
    Acquire, Budget, Capabilities, Cost, ErrorKind, Limit, MAX_UNITS, Nonce, PolicyBuilder,
    RequestId, RuleKind, RuleSet, Share,
};

use crate::{cost, length, named};

const DAY_MS: u64 = 86_400_000;

fn refused(built: PolicyBuilder, bound: &str) {
    let error = built.build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains(bound), "{error}");
    assert!(error.message().contains("policy \"tested\""), "{error}");
}

#[test]
fn every_bound_is_named_where_it_is_broken() {
    refused(named("s", MAX_UNITS + 1).aligned(length(1)), "2^53 - 1");
    refused(named("s", 1).rolling(length(0)), "1 ms to 366 days");
    refused(
        named("s", 1).in_flight(length(366 * DAY_MS + 1)),
        "1 ms to 366 days",
    );
    refused(named("s", 4097).rolling(length(4097)), "up to 4096");
    refused(named("s", 100_001).in_flight(length(1)), "0 to 100000");
    refused(
        named("s", 5).token_bucket(length(1), 6),
        "1 to the limit, 5",
    );
    refused(
        named("s", 5).token_bucket(length(1), 0),
        "1 to the limit, 5",
    );
    refused(named("s", 5), "no time rule");
    let bucket = named("s", 5).token_bucket(length(1), MAX_UNITS + 1);
    refused(bucket, "burst 9007199254740992");
}

#[test]
fn what_is_within_the_bounds_is_built() {
    for built in [
        named("s", 4096).rolling(length(31 * DAY_MS)),
        named("s", MAX_UNITS).rolling(length(4096)),
        named("s", 0).rolling(length(366 * DAY_MS)),
        named("s", 100_000).in_flight(length(366 * DAY_MS)),
        named("s", 0).in_flight(length(1)),
        named("s", MAX_UNITS).token_bucket(length(1), MAX_UNITS),
        named("s", 0).token_bucket(length(500), 0),
        named("s", MAX_UNITS).aligned(length(365 * DAY_MS)),
    ] {
        built.build().unwrap();
    }
}

#[test]
fn a_limit_that_the_rule_cannot_keep_is_refused_when_it_changes() {
    let rolling = named("s", 10).rolling(length(10_000)).build().unwrap();
    let more = rolling.with_limit(Limit::new(5000).unwrap()).unwrap_err();
    assert!(more.message().contains("up to 4096"), "{more}");
    let bucket = named("s", 10).token_bucket(length(1), 5).build().unwrap();
    let less = bucket.with_limit(Limit::new(4).unwrap()).unwrap_err();
    assert!(less.message().contains("1 to the limit, 4"), "{less}");
}

#[test]
fn no_two_stored_forms_meet_under_one_key() {
    let second = length(1000);
    let all = [
        named("s", 5).first_arrival(second),
        named("s", 5).first_arrival(second).refundable(),
        named("s", 5).aligned(second),
        named("s", 5).aligned(second).refundable(),
        named("s", 5).rolling(second),
        named("s", 5).token_bucket(second, 5),
        named("s", 5).in_flight(second),
    ];
    let keys = all.map(|built| Budget::of(&built.build().unwrap(), "alice").key());
    for (at, key) in keys.iter().enumerate() {
        assert!(!keys[..at].contains(key), "{key:?}");
    }
}

#[test]
fn limit_burst_and_a_form_that_is_no_other_leave_the_key_as_it_is() {
    let second = length(1000);
    let key = |built: PolicyBuilder| Budget::shared(&built.build().unwrap()).key();
    let bucket = key(named("s", 5).token_bucket(second, 5));
    assert_eq!(
        bucket,
        key(named("s", 9).token_bucket(second, 1).refundable())
    );
    let rolling = key(named("s", 5).rolling(second));
    assert_eq!(rolling, key(named("s", 9).rolling(second).refundable()));
}

#[test]
fn the_parts_of_a_limit_add_up_to_it() {
    for whole in [0, 1, 7, 100, MAX_UNITS] {
        for parts in [1, 2, 3, 16] {
            let part = |part| {
                Share::new(part, parts)
                    .unwrap()
                    .of(Limit::new(whole).unwrap())
            };
            assert_eq!((0..parts).map(|at| part(at).get()).sum::<u64>(), whole);
        }
    }
    assert_eq!(Share::new(3, 3).unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(Share::new(0, 0).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn a_part_without_burst_is_refused_and_one_without_limit_denies() {
    let bucket = named("s", 10).token_bucket(length(1), 2).build().unwrap();
    let share = |part| Share::new(part, 4).unwrap();
    assert_eq!(share(1).of_policy(&bucket).unwrap().largest_cost().get(), 1);
    assert_eq!(
        share(2).of_policy(&bucket).unwrap_err().kind(),
        ErrorKind::Invalid
    );
    let window = named("s", 1).first_arrival(length(1)).build().unwrap();
    assert_eq!(share(2).of_policy(&window).unwrap().limit().get(), 0);
}

#[test]
fn what_a_store_does_not_offer_is_invalid_before_it_is_asked() {
    let mut offered = Capabilities::in_process();
    let check = |request: &Acquire, offered: &Capabilities| {
        let error = request.check(offered, &"Store").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error.message().to_owned()
    };
    let window = named("s", 5).first_arrival(length(1)).build().unwrap();
    let plain = Acquire::of(&window, "alice", Cost::ONE);
    plain.check(&offered, &"Store").unwrap();
    let identified = plain.with_id(RequestId::new("a").unwrap());
    assert!(check(&identified, &offered).contains("does not remember"));

    let refundable = named("s", 5)
        .first_arrival(length(1))
        .refundable()
        .build()
        .unwrap();
    let request = Acquire::of(&refundable, "alice", Cost::ONE);
    assert!(check(&request, &offered).contains("no refunds under the time rule first-arrival"));
    offered.refunds = RuleSet::ALL;
    assert!(check(&request, &offered).contains("needs a nonce"));
    let request = request.with_nonce(Nonce::from_bytes([0; 16]));
    request.check(&offered, &"Store").unwrap();

    let jobs = named("s", 5).in_flight(length(1)).build().unwrap();
    let request = Acquire::of(&jobs, "alice", cost(1025)).with_nonce(Nonce::from_bytes([0; 16]));
    assert!(check(&request, &offered).contains("keep the time rule in-flight"));
    offered.rules = offered.rules.with(RuleKind::InFlight);
    assert!(check(&request, &offered).contains("allowed is 1 to 1024"));
}
