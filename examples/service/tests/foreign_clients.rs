//! Clients that others have written, and that honour `Retry-After`, wait as they are told and are then
//! answered.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use limiter_core::FailureMode;
use metrics_exporter_prometheus::PrometheusBuilder;
use service_example::{Limits, in_memory, service};

/// Where foreign packages are kept from one run to the next.
fn packages(kind: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("foreign")
        .join(kind);
    std::fs::create_dir_all(&path).expect("the build's own directory can be written to");
    path
}

/// Runs a command that has to work.
fn run(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?} is needed for this test: {error}"));
    let (out, err) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert!(status.success(), "{command:?}: {out}{err}");
    out.trim().to_owned()
}

/// A service that answers one search in two seconds, with that search made already.
async fn used_up() -> String {
    let limits = Limits {
        searches_each: 1,
        window: Duration::from_secs(2),
        ..Limits::default()
    };
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    let refuse = || FailureMode::Refuse;
    let (router, releaser) = service(&in_memory(), limits, refuse, metrics).expect("valid limits");
    tokio::spawn(releaser);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = format!(
        "http://{}/search",
        listener.local_addr().expect("an address")
    );
    tokio::spawn(async move { axum::serve(listener, router).await });
    let first = reqwest::Client::new()
        .get(&url)
        .header("x-api-key", "alice");
    assert_eq!(first.send().await.expect("an answer").status(), 200);
    url
}

/// Runs a client, which prints the status that it got in the end, after the window was used up.
#[allow(
    clippy::disallowed_methods,
    reason = "measures how long a foreign program waits"
)]
async fn waits_and_is_answered(command: impl FnOnce(&str) -> Command) {
    let url = used_up().await;
    let mut command = command(&url);
    let (status, took) = tokio::task::spawn_blocking(move || {
        let begun = Instant::now();
        (run(&mut command), begun.elapsed())
    })
    .await
    .expect("it ran");
    assert_eq!(status, "200");
    // Most of the window was still to come when it asked first.
    assert!(took > Duration::from_millis(500), "{took:?}");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

const URLLIB3: &str = "\
import sys, urllib3
answer = urllib3.PoolManager().request('GET', sys.argv[1], headers={'x-api-key': 'alice'})
print(answer.status)
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pythons_urllib3_waits_as_told_by_default() {
    let path = packages("python");
    if !path.join("urllib3").is_dir() {
        let mut install = Command::new("python3");
        install.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--target",
        ]);
        run(install.arg(&path).arg("urllib3>=2,<3"));
    }
    waits_and_is_answered(|url| {
        let mut client = Command::new("python3");
        client.env("PYTHONPATH", &path).args(["-c", URLLIB3, url]);
        client
    })
    .await;
}

const UNDICI: &str = "\
const { Agent, RetryAgent, request } = require('undici');
const dispatcher = new RetryAgent(new Agent());
request(process.argv[1], { dispatcher, headers: { 'x-api-key': 'alice' } }).then(async (answer) => {
  await answer.body.dump();
  console.log(answer.statusCode);
  process.exit(0);
});
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_undici_waits_as_told_with_its_retry_agent() {
    let path = packages("node");
    if !path.join("node_modules/undici").is_dir() {
        let mut install = Command::new("npm");
        install.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        run(install.arg(&path).arg("undici@6"));
    }
    waits_and_is_answered(|url| {
        let mut client = Command::new("node");
        client.current_dir(&path).args(["-e", UNDICI, url]);
        client
    })
    .await;
}
