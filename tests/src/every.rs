//! The same test on every server.

use crate::{Program, servers};

/// Runs `test` on all [`servers`] at once, each with its own task.
///
/// # Panics
/// Where it panics on any of them; the message names those.
pub async fn on_every_server<F>(test: impl Fn(&'static Program) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let tasks: Vec<_> = servers()
        .iter()
        .map(|program| (program, tokio::spawn(test(program))))
        .collect();
    let mut failed = Vec::new();
    for (program, task) in tasks {
        if task.await.is_err() {
            failed.push(program.to_string());
        }
    }
    assert!(failed.is_empty(), "failed on {}", failed.join(", "));
}
