//! What the figures were measured on.

use std::fs;
use std::process::Command;
use std::thread;

/// One line: processor, cores, compiler.
pub(crate) fn line() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |rest| {
        rest.trim_start_matches([' ', '\t', ':'])
    });
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let compiler = Command::new("rustc").arg("--version").output();
    let compiler = compiler.map_or_else(
        |_| "an unknown compiler".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    );
    format!(
        "{model}, {cores} cores, {}, {compiler}",
        std::env::consts::ARCH
    )
}
