//! What the server itself refuses is *unavailable*, and was not charged. The real counter says so.

mod away;
mod clients;
mod writes;

use std::time::Duration;

use limiter_core::{Error, ErrorKind};
use limiter_tests::{Program, Server};

const SOON: Duration = Duration::from_secs(20);

fn order(server: &Server, words: &[&str]) {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]).exec(&mut server.admin()).unwrap();
}

#[track_caller]
fn assert_unavailable(program: &Program, code: &str, error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
    // The `redis` crate writes some codes in its own spelling, such as `ReadOnly`.
    let told = error.message().to_uppercase();
    assert!(told.contains(code), "{program}: {error}");
}
