//! Fields that tell what is left.

use std::convert::Infallible;
use std::time::Duration;

use http::{Request, Response, StatusCode};
use limiter_core::{MAX_UNITS, Policy};
use limiter_tower::Fields;

use tower::{Layer, ServiceExt, service_fn};

use crate::support::{
    Body, MINUTE, ask, built, by_key, hello, layer, policy, request, send, store,
};

#[tokio::test]
async fn no_field_is_sent_unless_it_is_asked_for() {
    let answer = ask(&layer(5)).await;
    for name in ["ratelimit", "ratelimit-policy", "x-ratelimit-limit"] {
        assert_eq!(answer.field(name), None);
    }
}

#[tokio::test]
async fn the_drafts_fields_tell_policies_and_what_they_have_left() {
    let layer = layer(2).fields(Fields::Draft11);
    let first = ask(&layer).await;
    assert_eq!(first.field("ratelimit-policy"), Some("\"search\";q=2;w=60"));
    assert_eq!(first.field("ratelimit"), Some("\"search\";r=1;t=61"));
    ask(&layer).await;
    let denied = ask(&layer).await;
    assert_eq!(denied.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(denied.field("ratelimit"), Some("\"search\";r=0;t=61"));
}

#[tokio::test]
async fn retry_after_is_never_earlier_than_the_fields() {
    let layer = layer(1).fields(Fields::Draft11);
    ask(&layer).await;
    let denied = ask(&layer).await;
    let told = denied.field("ratelimit").unwrap();
    let t: u64 = told.rsplit_once("t=").unwrap().1.parse().unwrap();
    assert!(denied.field("retry-after").unwrap().parse::<u64>().unwrap() >= t);
}

/// A service that is busy for as long as the path says.
async fn busy(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let mut response = Response::new(Body::default());
    let wait = request.uri().path().trim_start_matches('/').parse();
    response.headers_mut().insert("retry-after", wait.unwrap());
    Ok(response)
}

#[tokio::test]
async fn the_services_own_retry_after_is_never_earlier_than_t() {
    let layer = layer(9).fields(Fields::Draft11);
    // The window of 60 s is as new in 61 s.
    for (wait, told) in [
        ("1", "\"search\";r=8"),
        ("61", "\"search\";r=7;t=61"),
        ("soon", "\"search\";r=6"),
    ] {
        let request = request().uri(format!("/{wait}")).body(Body::default());
        let service = built(&layer).layer(service_fn(busy));
        let answer = service.oneshot(request.unwrap()).await.unwrap();
        assert_eq!(answer.headers()["ratelimit"], told, "{wait}");
    }
}

#[tokio::test]
async fn integers_end_where_structured_fields_do() {
    let layer = by_key(store().0, [policy(MAX_UNITS)]).fields(Fields::Draft11);
    let answer = ask(&layer).await;
    assert_eq!(
        answer.field("ratelimit-policy"),
        Some("\"search\";q=999999999999999;w=60")
    );
    assert_eq!(
        answer.field("ratelimit"),
        Some("\"search\";r=999999999999999;t=61")
    );
}

fn named(name: &str, unit: &str, length: Duration) -> Policy {
    let policy = Policy::named(name).scope(name).unit(unit).limit(5);
    policy.first_arrival(length).build().unwrap()
}

#[tokio::test]
async fn short_windows_omit_w_and_only_the_drafts_units_are_named() {
    let policies = [
        named("short", "requests", Duration::from_millis(500)),
        named("bytes", "content-bytes", MINUTE),
        named("tokens", "tokens", Duration::from_millis(1_500)),
    ];
    let layer = by_key(store().0, policies).fields(Fields::Draft11);
    assert_eq!(
        ask(&layer).await.field("ratelimit-policy"),
        Some("\"short\";q=5, \"bytes\";q=5;qu=\"content-bytes\";w=60, \"tokens\";q=5;w=2")
    );
}

#[tokio::test]
async fn a_name_that_no_structured_field_can_hold_is_left_out() {
    let layer = by_key(store().0, [named("größe", "requests", MINUTE)]);
    let answer = ask(&layer.fields(Fields::Draft11)).await;
    assert_eq!(
        (answer.status(), answer.field("ratelimit")),
        (StatusCode::OK, None)
    );
}

#[tokio::test]
async fn layers_within_layers_tell_of_all_policies() {
    let tight = Policy::named("tight").scope("t").limit(2);
    let tight = tight.first_arrival(MINUTE).build().unwrap();
    let inner = by_key(store().0, [tight]).fields(Fields::Draft11);
    let outer = layer(9).fields(Fields::Draft11);
    let service = built(&outer).layer(built(&inner).layer(service_fn(hello)));
    let request = request().body(Body::default()).unwrap();
    let answer = service.oneshot(request).await.unwrap();
    let told: Vec<_> = answer.headers().get_all("ratelimit").iter().collect();
    assert_eq!(told, ["\"tight\";r=1;t=61", "\"search\";r=8;t=61"]);
}

#[tokio::test]
async fn the_historical_fields_are_those_of_the_policy_with_the_least_left() {
    let tight = Policy::named("tight").scope("t").limit(2);
    let tight = tight.first_arrival(MINUTE).build().unwrap();
    let layer = by_key(store().0, [policy(9), tight]).fields(Fields::Historical);
    let answer = ask(&layer).await;
    let told =
        ["limit", "remaining", "reset"].map(|name| answer.field(&format!("x-ratelimit-{name}")));
    assert_eq!(told, [Some("2"), Some("1"), Some("61")]);
}

#[tokio::test]
async fn of_two_layers_the_one_with_the_least_left_tells_the_historical_fields() {
    let tight = Policy::named("tight").scope("t").limit(2);
    let tight = tight.first_arrival(2 * MINUTE).build().unwrap();
    let tight = by_key(store().0, [tight]).fields(Fields::Historical);
    let wide = layer(9).fields(Fields::Historical);
    for (outer, inner) in [(&wide, &tight), (&tight, &wide)] {
        let service = built(outer).layer(built(inner).layer(service_fn(hello)));
        let request = request().body(Body::default()).unwrap();
        let answer = service.oneshot(request).await.unwrap();
        let told = ["limit", "remaining", "reset"].map(|name| {
            let name = format!("x-ratelimit-{name}");
            let values = answer.headers().get_all(name).iter();
            values
                .map(|value| value.to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        });
        assert_eq!(told[0], ["2"]);
        assert_eq!(told[1].len(), 1);
        assert_eq!(told[2], ["121"]);
    }
}

#[tokio::test]
async fn a_partition_key_tells_budgets_apart_and_nobody_by_name() {
    let told = async |key: [u8; 16], who: &str| {
        let layer = layer(9).fields(Fields::Draft11).partition_keys(key);
        let request = Request::builder().header("x-api-key", who);
        let answer = send(&layer, request.body(Body::default()).unwrap()).await;
        let told = answer.field("ratelimit").unwrap().to_owned();
        let rest = told
            .strip_prefix("\"search\";r=8;t=61;pk=:")
            .expect("a byte sequence");
        rest.strip_suffix(':').expect("its end").to_owned()
    };
    let alice = told([1; 16], "alice").await;
    // 16 bytes in base64.
    assert_eq!(alice.len(), 24);
    assert_eq!(alice, told([1; 16], "alice").await);
    assert_ne!(alice, told([1; 16], "bob").await);
    assert_ne!(alice, told([2; 16], "alice").await);
}

#[tokio::test]
async fn a_budget_that_is_everybodys_has_no_partition_key() {
    let whole = Policy::named("whole").scope("w").limit(2);
    let whole = whole.first_arrival(MINUTE).build().unwrap();
    let layer = layer(9).service_wide([whole]).fields(Fields::Draft11);
    let answer = ask(&layer.partition_keys([1; 16])).await;
    let told = answer.field("ratelimit").unwrap();
    assert!(told.ends_with(":, \"whole\";r=1;t=61"), "{told}");
}
