//! Which servers this machine has.

use std::env;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::{Certificates, Setup};

/// The binary of a server, and what it says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    path: PathBuf,
    flavour: &'static str,
    version: (u32, u32, u32),
}

impl Program {
    /// Asks the binary at `path`, or the one of that name on the search path, for its version.
    ///
    /// # Errors
    /// Where it does not run, or is no Redis or Valkey server; in one line.
    pub fn identify(path: impl Into<PathBuf>) -> Result<Self, String> {
        let path = path.into();
        let output = Command::new(&path)
            .arg("--version")
            .output()
            .map_err(|error| format!("{} does not run: {error}", path.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let foreign = || format!("{} is no Redis or Valkey server", path.display());
        let flavour = ["Redis", "Valkey"]
            .into_iter()
            .find(|flavour| text.starts_with(flavour))
            .ok_or_else(foreign)?;
        let version = text
            .split_whitespace()
            .find_map(|word| parse_version(word.strip_prefix("v=")?))
            .ok_or_else(foreign)?;
        Ok(Self {
            path,
            flavour,
            version,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is Valkey, and not Redis.
    pub fn is_valkey(&self) -> bool {
        self.flavour == "Valkey"
    }

    /// Whether its version is at least `major.minor`. Valkey's count goes on from Redis 7.2.
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        (self.version.0, self.version.1) >= (major, minor)
    }

    fn is_same_version(&self, other: &Self) -> bool {
        (self.flavour, self.version) == (other.flavour, other.version)
    }

    /// Whether it was built with TLS: starts it once with it, to see.
    pub fn has_tls(&self) -> bool {
        let certificates = Certificates::new();
        self.setup().tls(&certificates, false).try_start().is_ok()
    }

    /// How to run it: on a Unix socket only, nothing kept on disk.
    pub fn setup(&self) -> Setup {
        Setup::new(self)
    }
}

/// `Redis 7.0.15`.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor, patch) = self.version;
        write!(f, "{} {major}.{minor}.{patch}", self.flavour)
    }
}

fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// All servers that this machine has: the one that the environment variable `REDIS_SERVER` names,
/// or else `redis-server` on the search path and those that `tests/servers` fetched.
///
/// # Panics
/// Where there is none, or `REDIS_SERVER` names something else: a test without a server fails.
pub fn servers() -> &'static [Program] {
    find_servers().unwrap_or_else(|why| panic!("{why}"))
}

/// [`servers`], for who has something better to do than to panic.
///
/// # Errors
/// Where there is none, or `REDIS_SERVER` names something else; in one line that says what to do.
pub fn find_servers() -> Result<&'static [Program], &'static str> {
    static FOUND: LazyLock<Result<Vec<Program>, String>> = LazyLock::new(find);
    FOUND.as_deref().map_err(String::as_str)
}

fn find() -> Result<Vec<Program>, String> {
    if let Some(named) = env::var_os("REDIS_SERVER") {
        let program = Program::identify(named).map_err(|why| format!("REDIS_SERVER: {why}"))?;
        return Ok(vec![program]);
    }
    let on_path = PathBuf::from("redis-server");
    let mut found: Vec<Program> = Vec::new();
    for path in std::iter::once(on_path).chain(fetched()) {
        let program = Program::identify(path).ok();
        // One of each version is enough.
        found.extend(program.filter(|new| found.iter().all(|old| !old.is_same_version(new))));
    }
    if found.is_empty() {
        return Err(
            "no server to test on: run tests/servers, which fetches some, or name a \
                    binary in REDIS_SERVER"
                .to_owned(),
        );
    }
    Ok(found)
}

/// What `tests/servers` left in `servers/`, in the order of the folders' names.
fn fetched() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let servers = root.map(|root| root.join("servers")).unwrap_or_default();
    let folders = fs::read_dir(servers).into_iter().flatten().flatten();
    let mut binaries: Vec<PathBuf> = folders
        .flat_map(|folder| ["redis-server", "valkey-server"].map(|name| folder.path().join(name)))
        .filter(|binary| binary.is_file())
        .collect();
    binaries.sort();
    binaries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_needs_three_numbers() {
        assert_eq!(parse_version("7.0.15"), Some((7, 0, 15)));
        assert_eq!(parse_version("7.0"), None);
        assert_eq!(parse_version("seven"), None);
    }

    #[test]
    fn a_missing_binary_and_a_foreign_one_are_told_in_one_line() {
        for path in ["/nonexistent/redis-server", "/bin/sh", "true"] {
            let why = Program::identify(path).unwrap_err();
            assert!(why.starts_with(path) && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn every_server_of_this_machine_says_what_it_is() {
        for program in servers() {
            assert!(program.is_at_least(6, 2), "{program} is too old");
        }
    }
}
