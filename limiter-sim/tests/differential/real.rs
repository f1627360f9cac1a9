//! Real servers, started for a test and ended with it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use limiter_sim::server::{Reply, Version};

use crate::client::Client;

const HOW_TO_GET_ONE: &str =
    "no Redis server found: put redis-server on the PATH, or list servers in LIMITER_SERVERS";

/// A running server of its own.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    dir: PathBuf,
    pub(crate) version: Version,
    pub(crate) name: String,
}

impl Server {
    pub(crate) fn start(program: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!(
            "limiter-differential-{}-{number}",
            std::process::id()
        ));
        std::fs::create_dir_all(&dir).expect("a directory for the server");
        let process = Command::new(program)
            .args([
                "--port",
                "0",
                "--save",
                "",
                "--appendonly",
                "no",
                "--unixsocket",
                "socket",
                "--dir",
            ])
            .arg(&dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(&dir)
            .spawn()
            .unwrap_or_else(|error| panic!("{HOW_TO_GET_ONE} ({}: {error})", program.display()));
        let mut server = Self {
            process,
            dir,
            version: Version::Redis70,
            name: String::new(),
        };
        (server.version, server.name) = identify(&mut server.first_connection());
        server
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.dir.join("socket")).expect("a connection to the server")
    }

    fn first_connection(&self) -> Client {
        for _ in 0..1_000 {
            if let Ok(client) = Client::connect(&self.dir.join("socket")) {
                return client;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server does not listen");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn identify(client: &mut Client) -> (Version, String) {
    let Reply::Bulk(info) = client.words(["INFO", "server"]) else {
        panic!("the server does not say what it is");
    };
    let info = info.lossy().into_owned();
    let field = |name: &str| {
        info.lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or("")
            .to_owned()
    };
    let (valkey, redis) = (field("valkey_version:"), field("redis_version:"));
    let version = match (valkey.as_str(), redis.as_str()) {
        (valkey, _) if valkey.starts_with("9.1.") => Version::Valkey91,
        ("", redis) if redis.starts_with("6.2.") => Version::Redis62,
        ("", redis) if redis.starts_with("7.0.") => Version::Redis70,
        ("", redis) if redis.starts_with("8.2.") => Version::Redis82,
        _ => panic!("the model knows no server like redis {redis:?}, valkey {valkey:?}"),
    };
    (
        version,
        if valkey.is_empty() {
            format!("Redis {redis}")
        } else {
            format!("Valkey {valkey}")
        },
    )
}

/// The servers to compare with.
pub(crate) fn programs() -> Vec<PathBuf> {
    if let Some(list) = std::env::var_os("LIMITER_SERVERS") {
        return std::env::split_paths(&list).collect();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|dir| dir.join("redis-server"))
        .find(|program| program.is_file());
    vec![found.unwrap_or_else(|| panic!("{HOW_TO_GET_ONE}"))]
}

/// Does something with each server, two at a time.
pub(crate) fn with_each(act: impl Fn(&Server) + Sync) {
    for pair in programs().chunks(2) {
        std::thread::scope(|scope| {
            for program in pair {
                scope.spawn(|| act(&Server::start(program)));
            }
        });
    }
}
