//! The same test on every server.

use std::thread;

use crate::{Program, servers};

/// Runs `test` on all [`servers`] at once, each on a thread and a runtime of its own. The thread has
/// the server's name, which so leads each message of a panic.
///
/// # Panics
/// Where it panics on any of them; the message names those.
pub fn on_every_server(test: impl AsyncFn(&'static Program) + Sync) {
    on_every(servers().iter(), test);
}

/// [`on_every_server`], on some of them.
///
/// # Panics
/// Where it panics on any of them, and where there is none.
pub fn on_every(
    programs: impl IntoIterator<Item = &'static Program>,
    test: impl AsyncFn(&'static Program) + Sync,
) {
    let run = |program| runtime().block_on(test(program));
    let run = &run;
    let failed: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = programs
            .into_iter()
            .map(|program| {
                let thread = thread::Builder::new()
                    .name(program.to_string())
                    .spawn_scoped(scope, move || run(program));
                (program, thread.expect("a thread for a server's test"))
            })
            .collect();
        assert!(!threads.is_empty(), "no server here can be tested so");
        threads
            .into_iter()
            .filter_map(|(program, thread)| thread.join().is_err().then(|| program.to_string()))
            .collect()
    });
    assert!(failed.is_empty(), "failed on {}", failed.join(", "));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}
