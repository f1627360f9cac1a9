//! The harness keeps its own promises.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use limiter_tests::{Persistence, Server, eventually, servers};
use rustix::process::{Pid, test_kill_process};

fn set(server: &Server, key: &str) {
    redis::cmd("SET")
        .arg(key)
        .arg(1)
        .exec(&mut server.admin())
        .unwrap();
}

fn exists(server: &Server, key: &str) -> bool {
    redis::cmd("EXISTS")
        .arg(key)
        .query(&mut server.admin())
        .unwrap()
}

fn runs(pid: i32) -> bool {
    test_kill_process(Pid::from_raw(pid).unwrap()).is_ok()
}

#[test]
fn a_restart_begins_empty_without_persistence_and_keeps_all_with_it() {
    for program in servers() {
        for (persistence, kept) in [
            (Persistence::None, false),
            (Persistence::AppendAlways, true),
            (Persistence::AppendEverySecond, true),
            (Persistence::AppendNever, true),
        ] {
            let mut server = program.setup().persistence(persistence).start();
            set(&server, "a");
            server.kill();
            server.restart();
            assert_eq!(exists(&server, "a"), kept, "{program}, {persistence:?}");
        }
    }
}

#[test]
fn an_orderly_end_makes_a_snapshot_and_a_crash_does_not() {
    for program in servers() {
        let mut server = program.setup().persistence(Persistence::Snapshots).start();
        set(&server, "before");
        server.stop();
        server.restart();
        set(&server, "after");
        server.kill();
        server.restart();
        assert!(exists(&server, "before"), "{program}");
        assert!(!exists(&server, "after"), "{program}");
    }
}

#[test]
fn a_server_ends_with_its_owner_and_leaves_nothing_also_when_that_panics() {
    for program in servers() {
        let (pid, dir) = std::thread::spawn(move || {
            let server = program.setup().start();
            let pid = i32::try_from(server.pid()).unwrap();
            std::panic::panic_any((pid, server.dir().to_owned()));
        })
        .join()
        .map_err(|panic| *panic.downcast::<(i32, PathBuf)>().unwrap())
        .unwrap_err();
        assert!(!runs(pid) && !dir.exists(), "{program}");
    }
}

#[test]
fn a_setup_that_the_server_refuses_is_told_with_the_log() {
    for program in servers() {
        let setup = program.setup().directive("no-such-directive", 1);
        let panic = std::panic::catch_unwind(|| setup.start()).unwrap_err();
        let message = panic.downcast::<String>().unwrap();
        assert!(message.contains("no-such-directive"), "{message}");
    }
}

#[test]
fn a_password_is_asked_for_and_a_frozen_server_goes_on_when_it_is_thawed() {
    for program in servers() {
        let server = program.setup().password("secret").tcp().start();
        let address = server.connection_info().addr().clone();
        let mut stranger = redis::Client::open(address)
            .unwrap()
            .get_connection()
            .unwrap();
        let refused = redis::cmd("PING").exec(&mut stranger).unwrap_err();
        assert_eq!(refused.code(), Some("NOAUTH"), "{program}");
        server.freeze();
        server.thaw();
        let client = redis::Client::open(server.tcp_connection_info()).unwrap();
        redis::cmd("PING")
            .exec(&mut client.get_connection().unwrap())
            .unwrap();
    }
}

#[tokio::test]
async fn a_test_process_that_is_killed_leaves_nothing_either() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "harness::dies_with_a_server",
            "--ignored",
            "--nocapture",
        ])
        .output()
        .unwrap();
    assert!(!output.status.success(), "it died");
    let stdout = String::from_utf8(output.stdout).unwrap();
    let told = stdout.lines().find_map(|line| line.split_once("server="));
    let (pid, dir) = told.unwrap().1.split_once(' ').unwrap();
    let (pid, dir) = (pid.parse().unwrap(), PathBuf::from(dir));
    eventually("everything is gone", Duration::from_secs(10), async || {
        !runs(pid) && !dir.exists()
    })
    .await;
}

/// Not a test: what the one above starts as another process.
#[test]
#[ignore = "aborts its process; another test starts it"]
fn dies_with_a_server() {
    let server = servers()[0].setup().start();
    println!("server={} {}", server.pid(), server.dir().display());
    std::process::abort();
}
