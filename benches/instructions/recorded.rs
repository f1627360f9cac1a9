//! What was counted before, in a file: the compiler, its target, and a line for each case.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who made the instructions.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    version: String,
    target: String,
}

impl Compiler {
    pub(crate) fn of_this_machine() -> Result<Self, String> {
        let output = Command::new("rustc").arg("-vV").output();
        let output = output.map_err(|why| format!("rustc: {why}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        match (said.lines().next(), host) {
            (Some(version), Some(target)) => Ok(Self {
                version: version.to_owned(),
                target: target.to_owned(),
            }),
            _ => Err("rustc does not say its version and host".to_owned()),
        }
    }
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.version, self.target)
    }
}

#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) compiler: Compiler,
    /// Instructions by case.
    pub(crate) counts: Vec<(String, u64)>,
}

impl Recorded {
    fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("results/instructions.txt")
    }

    pub(crate) fn read() -> Result<Self, String> {
        let path = Self::path();
        let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Self::parsed(&text).ok_or_else(|| format!("{} is damaged: record anew", path.display()))
    }

    fn parsed(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let compiler = Compiler {
            version: lines.next()?.to_owned(),
            target: lines.next()?.to_owned(),
        };
        let count = |line: &str| {
            let (case, count) = line.rsplit_once(": ")?;
            Some((case.to_owned(), count.parse().ok()?))
        };
        Some(Self {
            compiler,
            counts: lines.map(count).collect::<Option<_>>()?,
        })
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        let Compiler { version, target } = &self.compiler;
        let mut text = format!("{version}\n{target}\n");
        for (case, count) in &self.counts {
            text += &format!("{case}: {count}\n");
        }
        print!("{text}");
        let path = Self::path();
        fs::write(&path, text).map_err(|why| format!("{}: {why}", path.display()))
    }
}
