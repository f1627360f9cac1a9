//! The store on Redis beside a raw client, other published limiters, and the server's own limit.

mod ceiling;
mod commands;
mod goals;
mod limiters;
mod load;
mod raw;
mod remembered;
mod workloads;

use limiter_tests::{Server, servers};
use tokio::runtime::{Builder, Runtime};

const HEAD: &str = "\
The server runs on this machine too, on a Unix socket. The callers have a runtime of as many threads as there are \
cores, less one for the server, and each limiter has one connection; the raw client and the two stores share \
theirs.

- *raw EVALSHA* sends a script that reads, compares, increments, and sets a deadline with the first increment. It \
answers yes or no, and takes whatever it finds for a count. *Telling*, it also says the total and how long the window \
lasts, as the stores do.
- *trypema* 2 (`absolute`) keeps a sliding interval of 10 ms buckets, which costs more than a window. It says that it \
needs Redis 7.2; 7.0 serves it all the same.
- *limitador* 0.14 is not here. With its feature `redis_storage` alone it does not compile: the keys of that storage \
use a module that only `disk_storage` has. With both, its default, it builds RocksDB, which needs libclang and a C++ \
compiler, and this workspace asks for neither. By its source, it reads in one script and charges in another.
- *axum-limit* 0.1 is not here: it asks for Rust 1.89, and this workspace builds with 1.88. By its source, its window \
on Redis is WATCH and GET, then MULTI, SET, EXPIRE and EXEC, with its one connection locked for all of it.
";

/// A private server, and what its callers run on.
struct Bench {
    server: Server,
    runtime: Runtime,
}

impl Bench {
    fn start() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.saturating_sub(1).max(1))
            .enable_all()
            .build();
        Self {
            server: servers()[0].setup().start(),
            runtime: runtime.expect("a runtime"),
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
        format!("On {}. {HEAD}\n", bench.server.program()),
        goals::section(&outcomes, &remembered),
        workloads::section(&outcomes),
        remembered::section(&remembered),
        commands::section(&bench),
        ceiling::section(&bench),
    ]
    .concat()
}
