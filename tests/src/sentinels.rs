//! A primary, its replica, and three sentinels that watch them.

use std::time::Duration;

use crate::{Program, Server, wait};

/// What the sentinels call the primary.
const NAME: &str = "main";

const PATIENCE: Duration = Duration::from_secs(60);

/// A primary with one replica and three sentinels, all on the loopback address.
///
/// The sentinels take the primary for lost after three seconds without an answer (less would be too
/// little on a busy machine), and promote the replica if two of them agree.
#[derive(Debug)]
pub struct Watched {
    /// The primary of the beginning.
    pub primary: Server,
    /// The replica of the beginning.
    pub replica: Server,
    sentinels: Vec<Server>,
}

impl Watched {
    /// Starts all of it, and waits until the replica is in step and the sentinels know each other.
    ///
    /// # Panics
    /// Where that does not come about.
    pub fn start(program: &Program) -> Self {
        let primary = program.setup().tcp().start();
        let replica = program.setup().tcp().replica_of(&primary).start();
        let port = primary.port().expect("it listens on TCP");
        let sentinels = (0..3)
            .map(|_| {
                program
                    .setup()
                    .sentinel()
                    .directive(
                        "sentinel",
                        format_args!("monitor {NAME} 127.0.0.1 {port} 2"),
                    )
                    .directive(
                        "sentinel",
                        format_args!("down-after-milliseconds {NAME} 3000"),
                    )
                    .directive("sentinel", format_args!("failover-timeout {NAME} 10000"))
                    .start()
            })
            .collect();
        let watched = Self {
            primary,
            replica,
            sentinels,
        };
        let ready = wait::until(PATIENCE, || watched.is_ready());
        assert!(ready, "{program}: the sentinels do not find each other");
        watched
    }

    /// What the sentinels call the primary.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// Where the sentinels are.
    pub fn urls(&self) -> Vec<String> {
        let ports = self.sentinels.iter().filter_map(Server::port);
        ports
            .map(|port| format!("redis://127.0.0.1:{port}/"))
            .collect()
    }

    /// Whether every sentinel names the replica of the beginning as the primary.
    pub fn is_promoted(&self) -> bool {
        self.sentinels.iter().all(|sentinel| {
            let mut ask = redis::cmd("SENTINEL");
            ask.arg("GET-MASTER-ADDR-BY-NAME").arg(NAME);
            let named: Result<(String, u16), _> = ask.query(&mut sentinel.admin());
            named.is_ok_and(|(_, port)| Some(port) == self.replica.port())
        })
    }

    fn is_ready(&self) -> bool {
        let in_step = self.replica.says("replication", "master_link_status:up");
        in_step
            && self.sentinels.iter().all(|sentinel| {
                let known = "status=ok,address=127.0.0.1:";
                sentinel.says("sentinel", known)
                    && sentinel.says("sentinel", "slaves=1,sentinels=3")
            })
    }
}
