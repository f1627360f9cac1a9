//! Settings that do not fit are found when the layer is built, and named.

use http::StatusCode;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, CountingNonces, Decision, Error, Limiter, Policy,
    Snapshot, Together,
};
use limiter_tower::{Fields, RateLimitLayer, RateLimitLayerBuilder, WithoutIdentity, path};

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
    let refundable = refundable.refundable().build().unwrap();
    is_refused(
        by_key(store().0, [refundable.clone()]).refund_when(always),
        "needs a nonce",
    );
    let limiter = Limiter::new(store().0, [refundable]).unwrap();
    let limiter = limiter.with_nonces(CountingNonces::random());
    let refundable = RateLimitLayer::builder(limiter, path());
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

#[test]
fn no_budget_is_charged_twice_for_one_request() {
    let twice = layer(1).service_wide([policy(1), policy(1)]);
    is_refused(twice, "charged twice");
    let own_and_wide = || layer(1).service_wide([policy(1)]);
    assert!(own_and_wide().build().is_ok());
    is_refused(
        own_and_wide().without_identity(WithoutIdentity::Share),
        "charged twice",
    );
}

#[test]
fn what_a_store_cannot_charge_together_is_no_layer() {
    let with = |together| {
        let limiter = Limiter::new(Keeping { together }, [policy(1)]).unwrap();
        RateLimitLayer::builder(limiter, path())
    };
    let wide = Policy::named("wide").scope("all").limit(1);
    let wide = wide.first_arrival(MINUTE).build().unwrap();
    let beside = |together| with(together).service_wide([wide.clone()]);
    is_refused(beside(Together::OneIdentity), "of one identity only");
    assert!(beside(Together::BesideOneIdentity).build().is_ok());
    assert!(beside(Together::Any).build().is_ok());
    let shared = |together| with(together).without_identity(WithoutIdentity::Share);
    is_refused(shared(Together::BesideOneIdentity), "beside an identity");
    assert!(shared(Together::OneIdentity).build().is_ok());
}

/// A store that charges together what it says.
#[derive(Debug)]
struct Keeping {
    together: Together,
}

impl std::fmt::Display for Keeping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keeping")
    }
}

#[async_trait::async_trait]
impl BudgetStore for Keeping {
    async fn acquire(&self, _: &Acquire) -> Result<Decision, Error> {
        Err(Error::unavailable("nobody is asked here"))
    }

    async fn peek(&self, _: &Budget) -> Result<Snapshot, Error> {
        Err(Error::unavailable("nobody is asked here"))
    }

    fn capabilities(&self) -> Capabilities {
        let mut offered = Capabilities::on_server();
        offered.max_charges = 16;
        offered.together = self.together;
        offered
    }
}
