//! The service with a real HTTP client over loopback, and with real servers that are stopped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use limiter_core::{BudgetStore, FailureMode};
use limiter_tests::{Server, servers};
use metrics_exporter_prometheus::PrometheusBuilder;
use reqwest::{Client, Response, StatusCode};
use service_example::{DEADLINE, Limits, PROBE, in_memory, on_redis, service};

/// A running service: its address.
async fn start(store: Arc<dyn BudgetStore>, limits: Limits, admit: bool) -> String {
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    let mode = || {
        if admit {
            FailureMode::Admit
        } else {
            FailureMode::Refuse
        }
    };
    let (router, releaser) = service(&store, limits, mode, metrics).expect("within the bounds");
    tokio::spawn(releaser);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

async fn get(client: &Client, url: &str) -> Response {
    get_as(client, url, "alice").await
}

async fn get_as(client: &Client, url: &str, key: &str) -> Response {
    let request = client.get(url).header("x-api-key", key);
    request.send().await.expect("the service answers")
}

/// How often each status was answered to `requests` requests of `callers` callers at once.
async fn load(url: String, callers: usize, requests: usize) -> BTreeMap<u16, usize> {
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (client, url) = (Client::new(), url.clone());
            tokio::spawn(async move {
                let mut seen = Vec::new();
                for _ in 0..requests {
                    seen.push(get(&client, &url).await.status().as_u16());
                }
                seen
            })
        })
        .collect();
    let mut counts = BTreeMap::new();
    for task in tasks {
        for status in task.await.expect("no caller panics") {
            *counts.entry(status).or_default() += 1;
        }
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_exactly_the_limit_is_admitted_in_memory() {
    let limits = Limits {
        searches_each: 100,
        ..Limits::default()
    };
    let url = start(in_memory(), limits, false).await;
    let seen = load(format!("{url}/search"), 16, 25).await;
    assert_eq!(seen, BTreeMap::from([(200, 100), (429, 300)]));
}

fn redis() -> Server {
    servers()[0].setup().tcp().start()
}

fn url_of(server: &Server) -> String {
    format!(
        "redis://127.0.0.1:{}",
        server.port().expect("it listens on TCP")
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_exactly_the_limit_is_admitted_on_redis() {
    let server = redis();
    let limits = Limits {
        searches_each: 100,
        ..Limits::default()
    };
    // Two processes of the service share the budgets.
    let first = start(on_redis(&url_of(&server)).unwrap(), limits, false).await;
    let second = start(on_redis(&url_of(&server)).unwrap(), limits, false).await;
    let (first, second) = tokio::join!(
        load(format!("{first}/search"), 8, 25),
        load(format!("{second}/search"), 8, 25)
    );
    let all = |status| first.get(&status).unwrap_or(&0) + second.get(&status).unwrap_or(&0);
    assert_eq!((all(200), all(429)), (100, 300));
}

#[tokio::test]
async fn five_searches_are_answered_and_the_sixth_is_explained() {
    let url = start(in_memory(), Limits::default(), false).await;
    let client = Client::new();
    for left in (0..5).rev() {
        let answer = get(&client, &format!("{url}/search")).await;
        assert_eq!(answer.status(), StatusCode::OK);
        // A line for each layer: what is left to all, and what is left to this key.
        let mut told = answer.headers().get_all("ratelimit").iter();
        let own = format!("\"search\";r={left};t=");
        let is_own = |line: &reqwest::header::HeaderValue| line.to_str().unwrap().starts_with(&own);
        assert!(told.any(is_own), "{:?}", answer.headers());
    }
    let denied = get(&client, &format!("{url}/search")).await;
    assert_eq!(denied.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(denied.headers()["cache-control"], "no-store");
    let wait: u64 = denied.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((1..=11).contains(&wait), "{wait}");
    let problem: serde_json::Value = denied.json().await.unwrap();
    assert_eq!(problem["status"], 429);
    assert_eq!(problem["policies"][0]["name"], "search");
}

#[tokio::test]
async fn the_limit_of_all_keys_is_one_budget_and_the_limit_of_each_is_its_own() {
    let limits = Limits {
        searches_each: 2,
        searches_in_all: 3,
        exports_at_once: 1,
        // Equally long: what tells the budgets apart is their scope.
        window: Duration::from_secs(60),
        window_of_all: Duration::from_secs(60),
    };
    let server = redis();
    for store in [in_memory(), on_redis(&url_of(&server)).unwrap()] {
        let url = format!("{}/search", start(store, limits, false).await);
        let client = Client::new();
        let mut denied_by = Vec::new();
        for key in ["alice", "alice", "alice", "bob", "bob", "carol"] {
            let answer = get_as(&client, &url, key).await;
            denied_by.push(match answer.status() {
                StatusCode::OK => String::new(),
                _ => {
                    let problem: serde_json::Value = answer.json().await.unwrap();
                    problem["policies"][0]["name"].as_str().unwrap().to_owned()
                }
            });
        }
        let all = "search-in-all";
        assert_eq!(denied_by, ["", "", "search", "", all, all]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_killed_is_503_within_the_deadline_and_found_again() {
    let mut server = redis();
    let url = start(
        on_redis(&url_of(&server)).unwrap(),
        Limits::default(),
        false,
    )
    .await;
    let (client, url) = (Client::new(), format!("{url}/search"));
    assert_eq!(get(&client, &url).await.status(), StatusCode::OK);
    server.kill();
    for _ in 0..8 {
        // Ten times the deadline: a busy machine is slow, and a hang is longer.
        let request = client
            .get(&url)
            .header("x-api-key", "alice")
            .timeout(10 * DEADLINE);
        let answer = request.send().await.expect("an answer in time");
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
    let refused = get(&client, &url).await;
    let wait = refused.headers()["retry-after"]
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(wait, "1", "the circuit knows when it asks again");
    server.restart();
    std::thread::sleep(2 * PROBE);
    assert_eq!(get(&client, &url).await.status(), StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_is_killed_lets_requests_through_where_that_was_chosen() {
    let mut server = redis();
    let url = start(on_redis(&url_of(&server)).unwrap(), Limits::default(), true).await;
    server.kill();
    let seen = load(format!("{url}/search"), 2, 10).await;
    assert_eq!(seen, BTreeMap::from([(200, 20)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exports_give_their_permits_back() {
    let url = start(in_memory(), Limits::default(), false).await;
    let client = Client::new();
    for _ in 0..20 {
        let answer = get(&client, &format!("{url}/export")).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(answer.text().await.unwrap(), "exported\n");
    }
}
