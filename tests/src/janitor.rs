//! Clears up after a test process that could not do so itself.
//!
//! A [`Server`](crate::Server) stops its process when it is dropped, also by a panic. A test process
//! that is killed, aborts, or ends with a server in a `static`, drops nothing. So a small shell
//! waits at the other end of a pipe, which the operating system closes when this process is gone,
//! whatever ended it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Follows which processes are alive (`+pid`, `-pid`); at the end of its input kills those and
/// removes the directory. An interrupt from the keyboard reaches it too, and must not stop it.
const SCRIPT: &str = r#"
trap "" INT HUP TERM
awk '{ if (/^[+]/) alive[substr($0, 2)] = 1; else delete alive[substr($0, 2)] }
     END { for (pid in alive) print pid }' |
while read -r pid; do kill -9 "$pid" 2>/dev/null; done
rm -rf -- "$1"
"#;

struct Janitor {
    dir: PathBuf,
    /// It ends after this process does, so nobody here waits for it.
    shell: Mutex<Child>,
}

static JANITOR: LazyLock<Janitor> = LazyLock::new(|| {
    let dir = tempfile::Builder::new()
        .prefix("limiter-")
        .tempdir()
        .expect("a directory for this process' servers")
        .keep();
    let shell = Command::new("sh")
        .args(["-c", SCRIPT, "janitor"])
        .arg(&dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell that clears up");
    let shell = Mutex::new(shell);
    Janitor { dir, shell }
});

/// The directory of everything that this process' servers keep; gone when the process is.
pub(crate) fn directory() -> &'static Path {
    &JANITOR.dir
}

/// `pid` is a process of ours.
pub(crate) fn started(pid: u32) {
    tell(&format!("+{pid}\n"));
}

/// `pid` was reaped: from now on the number may be somebody else's.
pub(crate) fn ended(pid: u32) {
    tell(&format!("-{pid}\n"));
}

fn tell(line: &str) {
    let shell = JANITOR.shell.lock();
    let mut shell = shell.unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = &mut shell.stdin {
        // If the shell is gone there is one thing less to rely on, and no reason to fail a test.
        let _ = pipe.write_all(line.as_bytes());
    }
}
