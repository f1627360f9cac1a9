//! Counting by valgrind.

use std::process::Command;

/// The first times take more, for what is there from then on: the difference of two runs is what the
/// further times took.
const FEW: u64 = 1_000;
const MANY: u64 = 11_000;

/// Instructions for doing `case` once.
pub(crate) fn instructions(case: &str) -> Result<u64, String> {
    let further = collected(case, MANY)?.saturating_sub(collected(case, FEW)?);
    Ok(further / (MANY - FEW))
}

fn collected(case: &str, times: u64) -> Result<u64, String> {
    let this = std::env::current_exe().map_err(|why| format!("this program: {why}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        // Only what is repeated: a process starts with more or fewer instructions each time.
        .arg("--toggle-collect=*cases::repeat*")
        .arg(this)
        .args(["run", case, &times.to_string()])
        .output()
        .map_err(|why| format!("valgrind, which has to be installed: {why}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| {
        let (_, count) = line.split_once("Collected :")?;
        count.trim().parse().ok()
    });
    count
        .filter(|_| output.status.success())
        .ok_or_else(|| format!("valgrind counted nothing:\n{said}"))
}
