//! One server that runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::{Program, Setup, janitor, wait};

/// How long a server may take to start or to end, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A private server: its own process, its own directory, a Unix socket that nobody else knows.
///
/// When it is dropped its process is killed and reaped, and its directory removed.
#[derive(Debug)]
pub struct Server {
    pub(crate) setup: Setup,
    dir: PathBuf,
    process: Option<Child>,
}

impl Server {
    pub(crate) fn start(setup: Setup) -> Result<Self, String> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = janitor::directory().join(number.to_string());
        fs::create_dir(&dir).expect("a directory for a server");
        let mut server = Self {
            setup,
            dir,
            process: None,
        };
        let text = server.setup.configuration(&server.dir, &server.socket());
        fs::write(server.configuration(), text).expect("a configuration file");
        server.launch()?;
        Ok(server)
    }

    /// Starts it again in the same directory, and waits until it answers.
    ///
    /// # Panics
    /// Where it still runs, or does not start; the message has the end of its log.
    pub fn restart(&mut self) {
        assert!(self.process.is_none(), "{} still runs", self.program());
        self.launch().unwrap_or_else(|why| panic!("{why}"));
    }

    fn launch(&mut self) -> Result<(), String> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .expect("a log file");
        let mut command = Command::new(self.program().path());
        command.arg(self.configuration());
        if self.setup.sentinel {
            command.arg("--sentinel");
        }
        let child = command
            .stdin(Stdio::null())
            .stderr(log.try_clone().expect("a second handle of the log"))
            .stdout(log)
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", self.program()))?;
        janitor::started(child.id());
        self.process = Some(child);
        wait::until(PATIENCE, || self.has_ended() || self.answers());
        if self.has_ended() || !self.answers() {
            return Err(format!(
                "{} does not start:\n{}",
                self.program(),
                self.log_end()
            ));
        }
        Ok(())
    }

    /// Kills it as a crash would, and reaps it. What it had not written is lost.
    pub fn kill(&mut self) {
        self.end(Signal::KILL);
    }

    /// Asks it to end in an orderly way, and waits until it has.
    ///
    /// # Panics
    /// Where it does not.
    pub fn stop(&mut self) {
        self.end(Signal::TERM);
    }

    /// Stops the process where it stands: it stays connected, and answers nothing.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    /// Whether it was started, and not killed or stopped since.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// What runs.
    pub fn program(&self) -> &Program {
        &self.setup.program
    }

    /// The number of its process.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn pid(&self) -> u32 {
        let child = self.process.as_ref();
        child.expect("a server that runs").id()
    }

    /// Its directory: data, configuration, log, socket.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its Unix socket.
    pub fn socket(&self) -> PathBuf {
        self.dir.join("socket")
    }

    /// Its TCP port on the loopback address, if it listens on one.
    pub fn port(&self) -> Option<u16> {
        self.setup.port
    }

    /// Its TCP port with TLS, if it listens on one.
    pub fn tls_port(&self) -> Option<u16> {
        self.setup.tls_port
    }

    fn configuration(&self) -> PathBuf {
        self.dir.join("server.conf")
    }

    fn log(&self) -> PathBuf {
        self.dir.join("log")
    }

    fn log_end(&self) -> String {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }

    /// Whether it answers, and is the process that was started here.
    fn answers(&self) -> bool {
        let client = self.client();
        let Ok(mut connection) = client.get_connection_with_timeout(PATIENCE) else {
            return false;
        };
        let ping: Result<(), _> = redis::cmd("PING").exec(&mut connection);
        let info: Result<String, _> = redis::cmd("INFO").arg("server").query(&mut connection);
        let (Ok(()), Ok(info)) = (ping, info) else {
            return false;
        };
        let own = self.process.as_ref().map(|child| child.id().to_string());
        let told = info
            .lines()
            .find_map(|line| line.strip_prefix("process_id:"));
        assert_eq!(told, own.as_deref(), "another process has this socket");
        true
    }

    fn has_ended(&mut self) -> bool {
        let child = self.process.as_mut();
        child.is_none_or(|child| child.try_wait().is_ok_and(|status| status.is_some()))
    }

    fn signal(&self, signal: Signal) {
        if let Some(child) = &self.process {
            kill_process(Pid::from_child(child), signal).expect("a process of ours takes signals");
        }
    }

    fn end(&mut self, signal: Signal) {
        if !self.has_ended() {
            self.signal(signal);
        }
        let ended = wait::until(PATIENCE, || self.has_ended());
        assert!(ended, "{} does not end", self.program());
        if let Some(child) = self.process.take() {
            janitor::ended(child.id());
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.process.take() {
            // All of this is best effort: a second panic would hide the first, and the janitor
            // comes after.
            let _ = child.kill();
            let _ = child.wait();
            janitor::ended(child.id());
        }
        let _ = fs::remove_dir_all(&self.dir);
    }
}
