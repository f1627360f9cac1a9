//! limitador and axum-limit, which are built and run apart: `benches/peers` says why.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use limiter_tests::Server;
use serde_json::json;

use super::limiters::WINDOW;
use super::workloads::Work;

/// Their names, in the tables and for the process.
pub(super) const NAMES: [&str; 2] = ["limitador", "axum-limit"];

/// The process that asks them.
pub(super) struct Peers {
    program: PathBuf,
    url: String,
}

impl Peers {
    /// Builds it, which takes long the first time. `None` where that fails; cargo has said why.
    pub(super) fn build(server: &Server) -> Option<Self> {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
        eprintln!(
            "redis: building limitador (with RocksDB, for minutes the first time) and axum-limit"
        );
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--release", "--locked", "--quiet"])
            .current_dir(&package)
            // It has a target directory of its own.
            .env_remove("CARGO_TARGET_DIR");
        let built = cargo.status().is_ok_and(|status| status.success());
        let program = package.join("target/release/limiter-bench-peers");
        let url = format!("unix://{}", server.socket().display());
        built.then_some(Self { program, url })
    }

    /// Starts it with one limiter, prepared for `work`.
    pub(super) fn start(&self, limiter: &str, work: Work) -> Peer {
        let child = Command::new(&self.program)
            .arg(&self.url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.expect("it was built");
        let requests = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let peer = Peer {
            child,
            pipes: RefCell::new((requests, answers)),
        };
        let accounts = work.account_names();
        let accounts: Vec<&str> = accounts.iter().map(AsRef::as_ref).collect();
        peer.ask(&json!({"prepare": {
            "limiter": limiter,
            "limit": work.limit(),
            "window_s": WINDOW.as_secs(),
            "callers": work.callers,
            "accounts": accounts,
            "order": work.places(),
        }}));
        peer
    }
}

/// One of them. Dropping it ends its process.
pub(super) struct Peer {
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Peer {
    fn ask(&self, request: &serde_json::Value) -> String {
        let (requests, answers) = &mut *self.pipes.borrow_mut();
        writeln!(requests, "{request}").expect("it reads");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("it answers");
        assert!(answer.ends_with('\n'), "it ended, and has said why");
        answer.trim().to_owned()
    }

    /// Lets its callers ask once for all accounts, and says how many were admitted.
    pub(super) fn run(&self) -> u64 {
        let admitted = self.ask(&json!("run"));
        admitted.parse().expect("a number")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It holds nothing that would have to be put away.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
