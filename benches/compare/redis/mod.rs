//! The store on Redis beside a raw client, other published limiters, and the server's own limit.

mod ceiling;
mod commands;
mod goals;
mod limiters;
mod load;
mod peers;
mod raw;
mod remembered;
mod workloads;

use limiter_tests::{Server, servers};
use peers::Peers;
use tokio::runtime::Runtime;

const HEAD: &str = "\
The server runs on this machine too, on a Unix socket. The callers have a runtime of as many threads as there are \
cores, less one for the server, and each limiter has one connection; the raw client and the two stores share \
theirs.

- *raw EVALSHA* sends a script that reads, compares, increments, and sets a deadline with the first increment. It \
answers yes or no, and takes whatever it finds for a count. *Telling*, it also says the total and how long the window \
lasts, as the stores do.
- *trypema* 2 (`absolute`) keeps a sliding interval of 10 ms buckets, which costs more than a window. It says that it \
needs Redis 7.2; 7.0 serves it all the same.
- *limitador* 0.14 (default features, `AsyncRedisStorage`) reads in one script and charges in another, so it admits \
more than may be where callers meet between the two. It says of itself that it gives up accuracy for speed.
- *axum-limit* 0.1 (fixed window) makes an optimistic transaction of each decision: WATCH and GET, then MULTI, SET, \
EXPIRE and EXEC, with its one connection locked for each try. What it gives up after eight tries counts as denied.
";

const WITHOUT_PEERS: &str = "
*limitador* and *axum-limit* are not in this run: they could not be built here. `cargo build --release` in `benches/peers` says \
why; it needs Rust 1.89, libclang and a C++ compiler.
";

/// A private server, and what its callers run on.
struct Bench {
    server: Server,
    runtime: Runtime,
    peers: Option<Peers>,
}

impl Bench {
    fn start() -> Self {
        let server = servers()[0].setup().start();
        Self {
            peers: Peers::build(&server),
            server,
            runtime: load::runtime(),
        }
    }

    /// Removes all keys, and keeps the scripts.
    fn clear(&self) {
        let mut admin = self.server.admin();
        let cleared: redis::RedisResult<()> = redis::cmd("FLUSHALL").query(&mut admin);
        cleared.expect("FLUSHALL");
    }
}

/// The section of the page.
pub(crate) fn section() -> String {
    let bench = Bench::start();
    let outcomes = workloads::measure_all(&bench);
    let remembered = remembered::measure_all(&bench);
    [
        format!("On {}. {HEAD}", bench.server.program()),
        bench
            .peers
            .as_ref()
            .map_or(WITHOUT_PEERS, |_| "")
            .to_owned()
            + "\n",
        goals::section(&outcomes, &remembered),
        workloads::section(&outcomes),
        remembered::section(&remembered),
        commands::section(&bench),
        ceiling::section(&bench),
    ]
    .concat()
}
