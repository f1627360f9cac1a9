//! How to run a server.

use std::fmt::Write;
use std::path::Path;

use crate::{Certificates, Program, Server, ports};

/// What a server keeps on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing (the default): a restart begins empty.
    None,
    /// Snapshots, made when they are asked for and at an orderly end.
    Snapshots,
    /// An append-only file, flushed to the disk before each reply.
    AppendAlways,
    /// An append-only file, flushed to the disk once a second.
    AppendEverySecond,
    /// An append-only file, flushed when the operating system likes.
    AppendNever,
}

/// How to run a [`Program`]: on a Unix socket in a directory of its own, without TCP and without
/// persistence, unless it is told otherwise.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) program: Program,
    pub(crate) port: Option<u16>,
    pub(crate) tls_port: Option<u16>,
    pub(crate) login: Option<(String, String)>,
    pub(crate) sentinel: bool,
    persistence: Persistence,
    directives: String,
}

impl Setup {
    pub(crate) fn new(program: &Program) -> Self {
        Self {
            program: program.clone(),
            port: None,
            tls_port: None,
            login: None,
            sentinel: false,
            persistence: Persistence::None,
            directives: String::new(),
        }
    }

    /// Keeps data on disk. The directory stays as long as the [`Server`] does, over restarts.
    #[must_use]
    pub fn persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// Listens on a free TCP port of the loopback address as well.
    #[must_use]
    pub fn tcp(mut self) -> Self {
        self.port = Some(ports::free());
        self
    }

    /// Listens on a free TCP port with TLS as well, under the server's certificate. Where
    /// `both_sides`, clients must show a certificate of the same authority.
    #[must_use]
    pub fn tls(mut self, certificates: &Certificates, both_sides: bool) -> Self {
        let port = ports::free();
        self.tls_port = Some(port);
        let dir = certificates.dir().display();
        self.directive("tls-port", port)
            .directive("tls-cert-file", format_args!("\"{dir}/server.pem\""))
            .directive("tls-key-file", format_args!("\"{dir}/server.key\""))
            .directive("tls-ca-cert-file", format_args!("\"{dir}/authority.pem\""))
            .directive("tls-auth-clients", if both_sides { "yes" } else { "no" })
    }

    /// Asks every client for `password`.
    #[must_use]
    pub fn password(self, password: &str) -> Self {
        self.directive("requirepass", password)
            .login("default", password)
    }

    /// The user and password with which [`Server::admin`] and [`Server::connect`] log in.
    #[must_use]
    pub fn login(mut self, user: &str, password: &str) -> Self {
        self.login = Some((user.to_owned(), password.to_owned()));
        self
    }

    /// Refuses writes above `bytes` (`noeviction`), or evicts as `policy` says.
    #[must_use]
    pub fn max_memory(self, bytes: u64, policy: &str) -> Self {
        self.directive("maxmemory", bytes)
            .directive("maxmemory-policy", policy)
    }

    /// Copies `primary`, which must listen on TCP.
    ///
    /// # Panics
    /// Where it does not.
    #[must_use]
    pub fn replica_of(self, primary: &Server) -> Self {
        let port = primary.port().expect("a primary that listens on TCP");
        self.directive("replicaof", format_args!("127.0.0.1 {port}"))
    }

    /// A node of a cluster, on TCP, that calls another one lost after `timeout_ms`.
    #[must_use]
    pub fn cluster_node(self, timeout_ms: u32) -> Self {
        self.tcp()
            .directive("cluster-enabled", "yes")
            .directive("cluster-node-timeout", timeout_ms)
    }

    /// A sentinel, on TCP: it watches servers and keeps no keys.
    #[must_use]
    pub fn sentinel(mut self) -> Self {
        self.sentinel = true;
        self.tcp()
    }

    /// Any other line of the configuration file.
    #[must_use]
    pub fn directive(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        writeln!(self.directives, "{name} {value}").expect("a string takes all");
        self
    }

    /// Starts it, and waits until it answers.
    ///
    /// # Panics
    /// Where it does not start; the message has the end of its log.
    pub fn start(self) -> Server {
        self.try_start().unwrap_or_else(|why| panic!("{why}"))
    }

    /// [`start`](Self::start), where it is the question whether it starts.
    ///
    /// # Errors
    /// Where it does not, with the end of its log.
    pub fn try_start(self) -> Result<Server, String> {
        Server::start(self)
    }

    /// The configuration file of a server in `dir` that listens on `socket`.
    pub(crate) fn configuration(&self, dir: &Path, socket: &Path) -> String {
        let (dir, socket) = (dir.display(), socket.display());
        let port = self.port.unwrap_or(0);
        let mut text = format!(
            "dir \"{dir}\"\nunixsocket \"{socket}\"\nport {port}\nbind 127.0.0.1\ndaemonize no\n"
        );
        if !self.sentinel {
            // A replica that comes is not made to wait for others.
            text.push_str("repl-diskless-sync-delay 0\n");
            text.push_str(match self.persistence {
                Persistence::None | Persistence::Snapshots => "save \"\"\nappendonly no\n",
                Persistence::AppendAlways => "save \"\"\nappendonly yes\nappendfsync always\n",
                Persistence::AppendEverySecond => {
                    "save \"\"\nappendonly yes\nappendfsync everysec\n"
                }
                Persistence::AppendNever => "save \"\"\nappendonly yes\nappendfsync no\n",
            });
            if self.persistence == Persistence::Snapshots {
                // Far off, so that only an order or an orderly end makes one.
                text.push_str("save 86400 1000000\n");
            }
        }
        text + &self.directives
    }
}
