//! A private server on a Unix socket, started for one test and stopped with it.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use limiter_redis::{ReconnectingConnection, RedisStore, RedisStoreBuilder};
use redis::aio::MultiplexedConnection;
use redis::{Client, ConnectionAddr, FromRedisValue, IntoConnectionInfo};

/// The binary: what `REDIS_SERVER` names, else `redis-server`.
fn binary() -> PathBuf {
    std::env::var_os("REDIS_SERVER").map_or_else(|| "redis-server".into(), PathBuf::from)
}

/// A server without TCP port and persistence, in a directory of its own.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    directory: PathBuf,
    arguments: Vec<String>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// With further arguments on its command line.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let name = format!("limiter-redis-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).expect("a directory for the server");
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let process = spawn(&directory, &arguments);
        Self {
            process,
            directory,
            arguments,
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("the server can be killed");
        self.process.wait().expect("the server can be waited for");
    }

    /// Starts it again after [`kill`](Self::kill), empty.
    pub(crate) fn restart(&mut self) {
        self.process = spawn(&self.directory, &self.arguments);
    }

    pub(crate) fn builder(&self) -> RedisStoreBuilder {
        RedisStoreBuilder::unix_socket(self.socket()).response_deadline(Duration::from_secs(10))
    }

    /// A store with a connection of its own.
    pub(crate) async fn store(&self) -> RedisStore<ReconnectingConnection> {
        self.builder().connect().await.expect("the server answers")
    }

    /// A connection for the test itself.
    pub(crate) async fn connection(&self) -> MultiplexedConnection {
        let address = ConnectionAddr::Unix(self.socket());
        let client = Client::open(address.into_connection_info().unwrap()).unwrap();
        client.get_multiplexed_async_connection().await.unwrap()
    }

    /// Sends one command of words.
    pub(crate) async fn run<T: FromRedisValue>(&self, words: &str) -> T {
        let mut words = words.split(' ');
        let mut command = redis::cmd(words.next().unwrap());
        command.arg(words.collect::<Vec<_>>());
        let mut connection = self.connection().await;
        command.query_async(&mut connection).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed already, and a test that fails should say why it did.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn spawn(directory: &Path, arguments: &[String]) -> Child {
    let socket = directory.join("socket");
    let _ = std::fs::remove_file(&socket);
    let mut command = Command::new(binary());
    command
        .args(["--port", "0", "--save", "", "--appendonly", "no"])
        .args(["--unixsocket".as_ref(), socket.as_os_str()])
        .args(["--dir".as_ref(), directory.as_os_str()])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut process = command.spawn().unwrap_or_else(|error| {
        panic!(
            "{} cannot be started ({error}): install redis-server, or name one in REDIS_SERVER",
            binary().display()
        )
    });
    let mut polls = (0..500).map(|_| std::thread::sleep(Duration::from_millis(10)));
    if polls.any(|()| UnixStream::connect(&socket).is_ok()) {
        return process;
    }
    let _ = process.kill();
    let _ = process.wait();
    panic!("{} did not listen within 5 s", binary().display());
}
