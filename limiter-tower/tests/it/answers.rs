//! What is answered in place of the service.

use std::time::Duration;

use async_trait::async_trait;
use http::StatusCode;
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Cost, CountingNonces, Decision, Error, FailureMode,
    Limiter, Permits, Policy, PolicyBuilder, Snapshot,
};
use limiter_tower::{RateLimitLayer, RateLimitLayerBuilder, header};
use tower::{Layer, Service, ServiceExt, service_fn};

use crate::support::{Body, MINUTE, ask, by_key, hello, layer, policy, request, send, store};

#[tokio::test]
async fn what_is_admitted_reaches_the_service_and_is_answered_by_it() {
    let layer = layer(1);
    let answer = ask(&layer).await;
    assert_eq!(
        (answer.status(), answer.text.as_str()),
        (StatusCode::OK, "hello")
    );
    assert_eq!(answer.field("retry-after"), None);
    assert_eq!(ask(&layer).await.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn a_denial_explains_the_condition() {
    let layer = layer(1);
    assert_eq!(ask(&layer).await.status(), StatusCode::OK);
    let answer = ask(&layer).await;
    assert_eq!(
        answer.field("content-type"),
        Some("application/problem+json")
    );
    let problem = answer.json();
    assert_eq!(problem["title"], "The rate limit is used up");
    assert_eq!(
        problem["detail"],
        "search: try again in 61 seconds. Others may come first."
    );
    let told = &problem["policies"][0];
    assert_eq!(
        (&told["name"], &told["limit"], &told["remaining"]),
        (&"search".into(), &1.into(), &0.into())
    );
    assert_eq!(told["retry_after_ms"], 60_001);
}

#[tokio::test]
async fn a_problem_type_has_one_title() {
    let mut titles = std::collections::BTreeSet::new();
    for limit in [1, 2] {
        let layer = layer(limit);
        for _ in 0..limit {
            ask(&layer).await;
        }
        titles.insert(ask(&layer).await.json()["title"].to_string());
    }
    assert_eq!(titles.len(), 1, "{titles:?}");
}

#[tokio::test]
async fn extensions_have_names_that_any_format_can_hold() {
    let layer = layer(1);
    ask(&layer).await;
    let problem = ask(&layer).await.json();
    let told = problem.as_object().unwrap();
    for name in told
        .keys()
        .chain(problem["policies"][0].as_object().unwrap().keys())
    {
        assert!(
            name.starts_with(|c: char| c.is_ascii_alphabetic()),
            "{name}"
        );
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
        assert!(name.len() >= 3 && name.chars().all(allowed), "{name}");
    }
}

#[tokio::test]
async fn a_denial_says_when_to_come_again() {
    let layer = layer(1);
    ask(&layer).await;
    let answer = ask(&layer).await;
    // A window of 60 s contains its last millisecond: 60,001 ms are 61 whole seconds.
    assert_eq!(answer.field("retry-after"), Some("61"));
}

#[tokio::test]
async fn whoever_waits_as_told_is_admitted() {
    let (store, clock) = store();
    let layer = by_key(store, [policy(1)]);
    ask(&layer).await;
    let seconds: u64 = ask(&layer)
        .await
        .field("retry-after")
        .unwrap()
        .parse()
        .unwrap();
    clock.advance(Duration::from_secs(seconds));
    assert_eq!(ask(&layer).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_wait_below_a_second_is_told_as_one() {
    let short = Policy::named("p").scope("s").limit(1);
    let short = short
        .first_arrival(Duration::from_millis(5))
        .build()
        .unwrap();
    let layer = by_key(store().0, [short]);
    ask(&layer).await;
    assert_eq!(ask(&layer).await.field("retry-after"), Some("1"));
}

#[tokio::test]
async fn a_refusal_is_not_to_be_stored() {
    for layer in [layer(0), by_key(store().0, [policy(1)])] {
        ask(&layer).await;
        assert_eq!(ask(&layer).await.field("cache-control"), Some("no-store"));
    }
}

#[tokio::test]
async fn the_body_has_the_status_of_the_response() {
    let layer = layer(0).never_status(StatusCode::PAYLOAD_TOO_LARGE);
    let answer = ask(&layer).await;
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(answer.json()["status"], 413);
}

#[tokio::test]
async fn what_can_never_be_admitted_is_told_apart_and_names_no_wait() {
    let layer = layer(5).cost(|_| Cost::new(6).unwrap());
    let answer = ask(&layer).await;
    assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(answer.field("retry-after"), None);
    let problem = answer.json();
    assert!(
        problem["type"].as_str().unwrap().ends_with("/never"),
        "{problem}"
    );
    assert_eq!(
        problem["policies"][0]["retry_after_ms"],
        serde_json::Value::Null
    );
}

#[tokio::test]
async fn plain_text_is_sent_to_those_who_prefer_it() {
    let layer = layer(0);
    let plain = request()
        .header("accept", "text/plain")
        .body(Body::default());
    let answer = send(&layer, plain.unwrap()).await;
    assert_eq!(
        answer.field("content-type"),
        Some("text/plain; charset=utf-8")
    );
    assert!(
        answer.text.starts_with("The request asks for more than"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn neither_identity_nor_the_stores_own_words_are_told() {
    let layer = by_key(store().0, [policy(1)]);
    ask(&layer).await;
    let denied = ask(&layer).await;
    assert!(!denied.text.contains("alice"), "{}", denied.text);
    let broken = ask(&broken(Error::unavailable("host redis-7.internal refused"))).await;
    assert!(!broken.text.contains("redis"), "{}", broken.text);
}

#[tokio::test]
async fn several_policies_are_charged_all_or_none_and_the_denied_are_named() {
    let minute = policy(3);
    let day = Policy::named("daily").scope("GET /search").limit(2);
    let day = day.first_arrival(24 * 60 * MINUTE).build().unwrap();
    let layer = by_key(store().0, [minute, day]);
    for _ in 0..2 {
        assert_eq!(ask(&layer).await.status(), StatusCode::OK);
    }
    let problem = ask(&layer).await.json();
    assert_eq!(problem["policies"].as_array().map(Vec::len), Some(1));
    assert_eq!(problem["policies"][0]["name"], "daily");
}

#[tokio::test]
async fn a_service_wide_policy_is_shared_by_all() {
    let whole = Policy::named("service").scope("all").limit(2);
    let whole = whole.first_arrival(MINUTE).build().unwrap();
    let layer = layer(5).service_wide([whole]);
    for key in ["alice", "bob"] {
        let own = http::Request::builder().header("x-api-key", key);
        let answer = send(&layer, own.body(Body::default()).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::OK);
    }
    let problem = ask(&layer).await.json();
    assert_eq!(problem["policies"][0]["name"], "service");
}

/// A store that fails.
#[derive(Debug)]
struct Broken(Error);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Broken")
    }
}

impl Broken {
    fn error(&self) -> Error {
        let error = Error::new(self.0.kind(), self.0.message());
        match self.0.retry_in() {
            Some(wait) => error.with_retry_in(wait),
            None => error,
        }
    }
}

#[async_trait]
impl BudgetStore for Broken {
    async fn acquire(&self, _: &Acquire) -> Result<Decision, Error> {
        Err(self.error())
    }

    async fn peek(&self, _: &Budget) -> Result<Snapshot, Error> {
        Err(self.error())
    }

    fn capabilities(&self) -> Capabilities {
        store().0.capabilities()
    }
}

fn broken(error: Error) -> RateLimitLayerBuilder<Broken> {
    by_key(Broken(error), [policy(5)])
}

#[tokio::test]
async fn what_cannot_be_decided_is_503_and_never_429() {
    for error in [
        Error::unavailable("away"),
        Error::uncertain("lost"),
        Error::corrupt("foreign"),
    ] {
        let answer = ask(&broken(error)).await;
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.field("retry-after"), None, "nobody knows when");
        assert_eq!(answer.field("cache-control"), Some("no-store"));
        assert!(
            answer.json()["type"]
                .as_str()
                .unwrap()
                .ends_with("/undecided")
        );
    }
}

#[tokio::test]
async fn a_circuit_that_knows_its_next_probe_says_when_to_come_again() {
    let open = Error::unavailable("open").with_retry_in(Duration::from_millis(1_200));
    assert_eq!(ask(&broken(open)).await.field("retry-after"), Some("2"));
}

#[tokio::test]
async fn a_request_that_is_set_up_wrongly_is_500() {
    let answer = ask(&broken(Error::invalid("two slots"))).await;
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn a_failure_mode_that_admits_lets_the_request_through() {
    let broken = Broken(Error::unavailable("away"));
    let limiter = Limiter::new(broken, [policy(5)])
        .unwrap()
        .on_failure(FailureMode::Admit);
    let layer = RateLimitLayer::builder(limiter, header("x-api-key").unwrap());
    assert_eq!(ask(&layer).await.status(), StatusCode::OK);
}

/// What is told to the second of two requests, where one unit is there every ten seconds in some way.
async fn wait_under(rule: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> String {
    let built = rule(Policy::named("p").scope("s").limit(1)).build();
    let (store, clock) = store();
    // 1,700,000,000 s is a multiple of ten seconds; three of them are over.
    clock.advance(Duration::from_secs(3));
    let limiter = Limiter::new(store, [built.unwrap()]).unwrap();
    let limiter = limiter.with_nonces(CountingNonces::random());
    let (permits, _releaser) = Permits::new();
    let layer = RateLimitLayer::builder(limiter, header("x-api-key").unwrap()).permits(permits);
    let mut service = layer.build().unwrap().layer(service_fn(hello));
    // The response is kept, and with it a permit.
    let mut ask = async || {
        let request = request().body(Body::default()).unwrap();
        service.ready().await.unwrap().call(request).await.unwrap()
    };
    let _held = ask().await;
    let denied = ask().await;
    assert_eq!(denied.status(), StatusCode::TOO_MANY_REQUESTS);
    denied.headers()["retry-after"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn under_every_rule_a_denial_says_when_to_come_again() {
    let ten = Duration::from_secs(10);
    // A first-arrival window and an interval contain their last millisecond, so the next one begins
    // after it, in the eleventh second. An aligned one ends where the next begins.
    assert_eq!(wait_under(|built| built.first_arrival(ten)).await, "11");
    assert_eq!(wait_under(|built| built.aligned(ten)).await, "7");
    assert_eq!(wait_under(|built| built.rolling(ten)).await, "11");
    assert_eq!(wait_under(|built| built.token_bucket(ten, 1)).await, "10");
    // Until the lease ends; it can be released at any time before.
    assert_eq!(wait_under(|built| built.in_flight(ten)).await, "11");
}

/// Lines of the crate's table of problem types: URI, title, status.
fn documented() -> Vec<[String; 3]> {
    let lines = include_str!("../../src/lib.rs").lines();
    let rows = lines.filter_map(|line| line.strip_prefix("//! | `tag:"));
    rows.map(|row| {
        let mut cells = row
            .split('|')
            .map(|cell| cell.trim().trim_matches('`').to_owned());
        let mut next = || cells.next().expect("a cell");
        [format!("tag:{}", next()), next(), next()]
    })
    .collect()
}

#[tokio::test]
async fn every_problem_type_is_documented_with_its_title_and_status() {
    let denied = by_key(store().0, [policy(1)]);
    ask(&denied).await;
    let answers = [
        ask(&denied).await,
        ask(&layer(0)).await,
        ask(&broken(Error::unavailable("away"))).await,
        send(&layer(1), http::Request::new(Body::default())).await,
        ask(&broken(Error::invalid("two slots"))).await,
    ];
    let mut told: Vec<[String; 3]> = Vec::new();
    for answer in &answers {
        let problem = answer.json();
        let word = |name: &str| problem[name].as_str().unwrap().to_owned();
        told.push([word("type"), word("title"), problem["status"].to_string()]);
    }
    assert_eq!(told, documented());
}
