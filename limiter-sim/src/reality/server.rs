//! A real server process of its own, in a directory of its own.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use limiter_core::{Clock, SystemClock};
use tempfile::TempDir;

use super::line::Line;
use super::slow_disk::SlowDisk;
use crate::scenario::Persistence;
use crate::server::{Reply, Version};

/// How long something that a server does by itself is waited for.
const PATIENCE_MS: u64 = 20_000;

/// Where ports for servers begin.
const FIRST_PORT: u16 = 10_000;
/// How many there are.
const PORTS_THERE_ARE: u32 = 20_000;

/// A server that runs. Dropping it kills it and removes its directory.
pub(super) struct Server {
    program: PathBuf,
    persistence: Persistence,
    dir: TempDir,
    port: u16,
    process: Child,
    /// A connection for what no client does.
    admin: Line,
    slow_disk: Option<SlowDisk>,
}

impl Server {
    /// Starts a server of its own; `slow` prepares its disk for fsyncs that take long.
    pub(super) fn start(
        program: &Path,
        persistence: Persistence,
        slow: bool,
    ) -> Result<Self, String> {
        let dir = tempfile::Builder::new()
            .prefix("limiter-sim-")
            .tempdir()
            .map_err(|error| format!("no directory for a server: {error}"))?;
        let slow_disk = slow.then(|| SlowDisk::prepare(dir.path())).transpose()?;
        let port = free_port()?;
        let process = launch(program, persistence, dir.path(), port, slow_disk.as_ref())?;
        let mut server = Self {
            admin: Line::to(&socket(dir.path()))?,
            program: program.to_owned(),
            persistence,
            dir,
            port,
            process,
            slow_disk,
        };
        server.admin.words(["PING"])?;
        Ok(server)
    }

    /// A replica of this server, which has all that it has.
    pub(super) fn replica(&mut self) -> Result<Self, String> {
        let slow = self.slow_disk.is_some();
        let mut replica = Self::start(&self.program, self.persistence, slow)?;
        replica.follow(self)?;
        Ok(replica)
    }

    /// Becomes a replica of `primary`, and receives all that it has.
    pub(super) fn follow(&mut self, primary: &mut Self) -> Result<(), String> {
        let port = primary.port.to_string();
        self.admin.words(["REPLICAOF", "127.0.0.1", &port])?;
        until("the replica to follow", || {
            let info = self.admin.info("replication")?;
            Ok(info.field("master_link_status") == Some("up"))
        })?;
        self.catch_up(primary)
    }

    /// Waits until this replica has received all that `primary` has done.
    pub(super) fn catch_up(&mut self, primary: &mut Self) -> Result<(), String> {
        let done = primary
            .admin
            .info("replication")?
            .number("master_repl_offset")?;
        until("the replica to receive all", || {
            let received = self
                .admin
                .info("replication")?
                .number("slave_repl_offset")?;
            Ok(received >= done)
        })
    }

    /// Receives no more; takes writes from now on.
    pub(super) fn stand_alone(&mut self) -> Result<(), String> {
        self.admin.words(["REPLICAOF", "NO", "ONE"]).map(drop)
    }

    /// Kills it, and starts it again in its directory.
    pub(super) fn restart(&mut self) -> Result<(), String> {
        self.kill();
        if let Some(disk) = &self.slow_disk {
            disk.recover()?;
        }
        let slow_disk = self.slow_disk.as_ref();
        self.process = launch(
            &self.program,
            self.persistence,
            self.dir.path(),
            self.port,
            slow_disk,
        )?;
        self.admin = Line::to(&socket(self.dir.path()))?;
        until("the server to load its data", || {
            Ok(self.admin.words(["PING"])?.as_error().is_none())
        })
    }

    /// Ends the process with SIGKILL.
    pub(super) fn kill(&mut self) {
        // It may have ended by itself; then there is nothing to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub(super) fn connect(&self) -> Result<Line, String> {
        Line::to(&socket(self.dir.path()))
    }

    pub(super) fn admin(&mut self) -> &mut Line {
        &mut self.admin
    }

    /// Makes fsyncs take long from now on.
    pub(super) fn stall_disk(&mut self) -> Result<(), String> {
        match &self.slow_disk {
            Some(disk) => disk.stall(&mut self.admin),
            None => Err("the server was not started on a disk that can be slow".to_owned()),
        }
    }

    /// Makes them as fast as they are.
    pub(super) fn recover_disk(&mut self) -> Result<(), String> {
        self.slow_disk.as_ref().map_or(Ok(()), SlowDisk::recover)
    }

    /// What it says that it is.
    pub(super) fn name(&mut self) -> Result<String, String> {
        let info = self.admin.info("server")?;
        let field = |name: &str| info.field(name).unwrap_or("").to_owned();
        let (valkey, redis) = (field("valkey_version"), field("redis_version"));
        Ok(if valkey.is_empty() {
            format!("Redis {redis}")
        } else {
            format!("Valkey {valkey}")
        })
    }

    /// How many changes of data the server has made: it grows with each.
    pub(super) fn changes(&mut self) -> Result<u64, String> {
        self.admin
            .info("persistence")?
            .number("rdb_changes_since_last_save")
    }

    /// Its keys, in byte order.
    pub(super) fn keys(&mut self) -> Result<Vec<String>, String> {
        let Reply::Array(keys) = self.admin.words(["KEYS", "*"])? else {
            return Ok(Vec::new());
        };
        let mut keys: Vec<String> = keys
            .iter()
            .filter_map(|key| match key {
                Reply::Bulk(key) => Some(key.lossy().into_owned()),
                _ => None,
            })
            .collect();
        keys.sort_unstable();
        Ok(keys)
    }

    /// The longest rest of a life that one of its keys has.
    pub(super) fn longest_life_ms(&mut self) -> Result<u64, String> {
        let mut longest = 0;
        for key in self.keys()? {
            if let Reply::Int(left) = self.admin.words(["PTTL", &key])? {
                longest = longest.max(u64::try_from(left).unwrap_or(0));
            }
        }
        Ok(longest)
    }

    /// Its keys, each with its value and the rest of its life.
    pub(super) fn stored(&mut self) -> Result<String, String> {
        let mut told = Vec::new();
        for key in self.keys()? {
            let value = match self.admin.words(["GET", &key])? {
                Reply::Bulk(value) => value.lossy().into_owned(),
                Reply::Nil => continue,
                _ => self.admin.words(["TYPE", &key])?.to_string(),
            };
            told.push(match self.admin.words(["PTTL", &key])? {
                Reply::Int(left) if left >= 0 => format!("{key}={value} for {left} ms"),
                _ => format!("{key}={value} for ever"),
            });
        }
        Ok(told.join(", "))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn socket(dir: &Path) -> PathBuf {
    dir.join("socket")
}

/// A port that nobody listens on, below those that systems give to outgoing connections, and another
/// one each time.
fn free_port() -> Result<u16, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..PORTS_THERE_ARE {
        let number = std::process::id()
            .wrapping_mul(64)
            .wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST_PORT + u16::try_from(number % PORTS_THERE_ARE).expect("below 2^16");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no port for a server is free".to_owned())
}

fn launch(
    program: &Path,
    persistence: Persistence,
    dir: &Path,
    port: u16,
    slow_disk: Option<&SlowDisk>,
) -> Result<Child, String> {
    let append_only = match persistence {
        Persistence::None | Persistence::Rdb => None,
        Persistence::AofNo => Some("no"),
        Persistence::AofEverysec => Some("everysec"),
        Persistence::AofAlways => Some("always"),
    };
    let log = File::create(dir.join("log")).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--unixsocket", "socket", "--unixsocketperm", "700"])
        // A snapshot is taken when the history says so. A replica's copy is none.
        .args(["--save", "", "--rdb-del-sync-files", "yes"])
        .args(["--repl-diskless-sync-delay", "0"])
        .args([
            "--appendonly",
            if append_only.is_some() { "yes" } else { "no" },
        ])
        .args(["--appendfsync", append_only.unwrap_or("no")])
        .arg("--dir")
        .arg(dir)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stderr(log.try_clone().map_err(|error| error.to_string())?)
        .stdout(log);
    if let Some(disk) = slow_disk {
        disk.preload(&mut command);
    }
    let _ = fs::remove_file(socket(dir));
    let not_started =
        |why: &str| format!("{} is no server that can be used: {why}", program.display());
    let mut process = command
        .spawn()
        .map_err(|error| not_started(&error.to_string()))?;
    let answers = until("the server to start", || {
        if let Ok(Some(status)) = process.try_wait() {
            return Err(not_started(&format!(
                "it ended at once ({status}){}",
                last_words(dir)
            )));
        }
        Ok(Line::to(&socket(dir)).is_ok_and(|mut line| line.words(["PING"]).is_ok()))
    });
    if let Err(why) = answers {
        let _ = process.kill();
        let _ = process.wait();
        return Err(why);
    }
    Ok(process)
}

/// The last line that a server wrote before it ended.
fn last_words(dir: &Path) -> String {
    let log = fs::read_to_string(dir.join("log")).unwrap_or_default();
    let mut lines = log.lines().rev().filter(|line| !line.trim().is_empty());
    lines
        .next()
        .map_or_else(String::new, |line| format!(": {}", line.trim()))
}

/// Waits until something holds.
pub(super) fn until(
    what: &str,
    mut holds: impl FnMut() -> Result<bool, String>,
) -> Result<(), String> {
    let clock = SystemClock::new();
    let begun = clock.now();
    while !holds()? {
        if clock.now().millis_since(begun) > PATIENCE_MS {
            return Err(format!("waited {PATIENCE_MS} ms in vain for {what}"));
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The program at `path`, wherever it is started from; a bare name is looked up on the search path.
pub(super) fn program(path: &Path) -> Result<PathBuf, String> {
    if path.components().count() == 1 && !path.is_file() {
        return Ok(path.to_owned());
    }
    // Links are not followed: a server looks at the name that it is called by.
    std::path::absolute(path)
        .map_err(|error| format!("{} is no server that can be used: {error}", path.display()))
}

/// Which server the program at `path` is.
pub(super) fn version(path: &Path) -> Result<Version, String> {
    let name = Server::start(path, Persistence::None, false)?.name()?;
    // The model knows a line of releases, of which it was compared with one.
    let line = |version: &Version| {
        let release = version.to_string();
        let end = release.rfind('.').map_or(release.len(), |dot| dot + 1);
        release[..end].to_owned()
    };
    let mut known = Version::ALL.into_iter();
    let found = known.find(|version| name.starts_with(&line(version)));
    found.ok_or_else(|| {
        let known = Version::ALL.map(|version| line(&version) + "x").join(", ");
        format!("{} is {name}; the model knows {known}", path.display())
    })
}
