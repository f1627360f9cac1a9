//! Clients that others have written, and that honour `Retry-After`, wait as they are told and are then
//! answered.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::Request;
use axum::http::header::RETRY_AFTER;
use axum::middleware::{Next, from_fn};
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

/// What the service was asked and answered, as it saw it itself.
type Seen = Arc<Mutex<Vec<Answered>>>;

#[derive(Clone, Copy, Debug)]
struct Answered {
    asked: Instant,
    answered: Instant,
    status: u16,
    /// `Retry-After`, in seconds.
    told: Option<u64>,
}

/// A service that answers one search in two seconds, with that search made already.
#[allow(
    clippy::disallowed_methods,
    reason = "dates what a foreign program does"
)]
async fn used_up() -> (String, Seen) {
    let limits = Limits {
        searches_each: 1,
        window: Duration::from_secs(2),
        ..Limits::default()
    };
    let metrics = PrometheusBuilder::new().build_recorder().handle();
    let refuse = || FailureMode::Refuse;
    let (router, releaser) = service(&in_memory(), limits, refuse, metrics).expect("valid limits");
    tokio::spawn(releaser);
    let seen = Seen::default();
    let record = Arc::clone(&seen);
    let router = router.layer(from_fn(move |request: Request, next: Next| {
        let record = Arc::clone(&record);
        async move {
            let asked = Instant::now();
            let response = next.run(request).await;
            let told = response.headers().get(RETRY_AFTER);
            record.lock().expect("nobody panics").push(Answered {
                asked,
                answered: Instant::now(),
                status: response.status().as_u16(),
                told: told.map(|told| told.to_str().expect("text").parse().expect("seconds")),
            });
            response
        }
    }));
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
    (url, seen)
}

/// A timer of a client may be so much early, by its own clock.
const EARLY: Duration = Duration::from_millis(5);

/// Runs a client, which prints the status that it got in the end, after the window was used up: it
/// asks, is told to wait, waits at least as long, asks once more, and is answered.
async fn waits_and_is_answered(command: impl FnOnce(&str) -> Command) {
    let (url, seen) = used_up().await;
    let mut command = command(&url);
    let status = tokio::task::spawn_blocking(move || run(&mut command));
    assert_eq!(status.await.expect("it ran"), "200");
    let seen = seen.lock().expect("nobody panics").clone();
    let [first, denied, last] = seen[..] else {
        panic!("ours and two more: {seen:?}");
    };
    assert_eq!((first.status, denied.status, last.status), (200, 429, 200));
    let told = Duration::from_secs(denied.told.expect("it was told to wait"));
    let waited = last.asked - denied.answered;
    assert!(waited + EARLY >= told, "told {told:?}, waited {waited:?}");
    assert!(waited < Duration::from_secs(30), "{waited:?}");
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
