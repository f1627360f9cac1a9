//! Settings that do not fit are found when the layer is built, and named.

use http::StatusCode;
use limiter_core::{BudgetStore, Policy};
use limiter_tower::{Fields, RateLimitLayerBuilder, WithoutIdentity};

use crate::support::{MINUTE, by_key, layer, policy, store};

fn is_refused<S: BudgetStore>(layer: RateLimitLayerBuilder<S>, why: &str) {
    let refused = layer.build().expect_err("it does not fit").to_string();
    assert!(refused.contains(why), "{refused}");
}

#[test]
fn an_in_flight_policy_needs_a_place_for_permits() {
    let jobs = Policy::named("jobs").scope("jobs").limit(1);
    let jobs = jobs.in_flight(MINUTE).build().unwrap();
    is_refused(by_key(store().0, [jobs.clone()]), "\"jobs\"");
    is_refused(layer(1).service_wide([jobs]), "\"jobs\"");
}

#[test]
fn only_refundable_policies_can_be_given_back() {
    let always = |_: &http::Response<()>| true;
    is_refused(layer(1).refund_when(always), "no policy is refundable");
    let refundable = Policy::named("r").scope("r").limit(1).first_arrival(MINUTE);
    let refundable = by_key(store().0, [refundable.refundable().build().unwrap()]);
    assert!(refundable.refund_when(always).build().is_ok());
}

#[test]
fn a_refusal_has_the_status_of_one() {
    for status in [StatusCode::OK, StatusCode::SERVICE_UNAVAILABLE] {
        is_refused(layer(1).never_status(status), "400 to 499");
    }
    let redirect = WithoutIdentity::Reject(StatusCode::FOUND);
    is_refused(layer(1).without_identity(redirect), "Reject(302)");
}

#[test]
fn partition_keys_need_fields_that_have_a_place_for_them() {
    for fields in [Fields::None, Fields::Historical] {
        let keyed = layer(1).fields(fields).partition_keys([7; 16]);
        is_refused(keyed, "Fields::Draft11");
    }
}

#[test]
fn a_store_has_to_take_all_policies_at_once() {
    let many = (0..16).map(|at| {
        let wide = Policy::named("wide").scope(format!("{at}")).limit(1);
        wide.first_arrival(MINUTE).build().unwrap()
    });
    is_refused(
        by_key(store().0, [policy(1)]).service_wide(many),
        "17 policies in one decision: MemoryStore takes at most 16",
    );
}
