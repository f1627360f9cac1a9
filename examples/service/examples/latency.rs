//! What limits add to the latency of a handler that does nothing: `cargo run --release -p
//! service-example --example latency` asks with `wrk`, over loopback, one request at a time.

#![allow(
    clippy::disallowed_methods,
    reason = "a measurement: it needs no clock of the project's own"
)]

use std::error::Error;
use std::process::Command;

use axum::routing::get;
use limiter_core::{FailureMode, Limiter, Policy};
use limiter_memory::MemoryStore;
use limiter_tower::{RateLimitLayer, header};
use metrics_exporter_prometheus::PrometheusBuilder;
use service_example::{Limits, in_memory, service};

/// So many times each, one after the other.
const ROUNDS: usize = 7;

#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> Result<(), Box<dyn Error>> {
    let metrics = PrometheusBuilder::new().install_recorder()?;
    let limits = Limits {
        searches_each: 1 << 40,
        searches_in_all: 1 << 40,
        ..Limits::default()
    };
    let (router, releaser) = service(&in_memory(), limits, || FailureMode::Refuse, metrics)?;
    tokio::spawn(releaser);
    let policy = Policy::named("bare").scope("GET /bare").limit(1 << 40);
    let policy = policy.first_arrival(limits.window).build()?;
    let limiter = Limiter::new(MemoryStore::new(), [policy])?;
    let bare = RateLimitLayer::builder(limiter, header("x-api-key")?).build()?;
    let router = router.route("/bare", get(async || "found\n").layer(bare));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, router).await });

    let mut seen = ROUTES.map(|_| Vec::with_capacity(ROUNDS));
    for _ in 0..ROUNDS {
        for ((path, _), seen) in ROUTES.into_iter().zip(&mut seen) {
            let url = format!("http://{address}/{path}");
            let mean = tokio::task::spawn_blocking(move || mean_micros(&url)).await??;
            seen.push(mean);
        }
    }
    for ((_, what), of) in ROUTES.iter().zip(&seen) {
        let mut ratios: Vec<f64> = seen[0]
            .iter()
            .zip(of)
            .map(|(plain, it)| it / plain)
            .collect();
        let (micros, ratio) = (median(&mut of.clone()), median(&mut ratios));
        println!("{what:<60} {micros:>5.1} µs  {ratio:.2}");
    }
    Ok(())
}

/// The path, and what is in front of the handler there.
const ROUTES: [(&str, &str); 3] = [
    ("plain", "no limit"),
    ("bare", "one limit in memory"),
    (
        "search",
        "the service's two, observed, each with the draft's fields",
    ),
];

fn median(of: &mut [f64]) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// The mean time of a request, on one connection, in two seconds.
fn mean_micros(url: &str) -> Result<f64, String> {
    let output = Command::new("wrk")
        .args(["-t1", "-c1", "-d2s", "-H", "x-api-key: alice", url])
        .output()
        .map_err(|why| format!("wrk, which has to be installed: {why}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said.contains("Non-2xx") {
        return Err(format!("not every request was admitted:\n{said}"));
    }
    let per_second = said
        .lines()
        .find_map(|line| line.strip_prefix("Requests/sec:"))
        .and_then(|rate| rate.trim().parse::<f64>().ok());
    per_second
        .map(|rate| 1e6 / rate)
        .ok_or_else(|| format!("wrk said no rate:\n{said}"))
}
