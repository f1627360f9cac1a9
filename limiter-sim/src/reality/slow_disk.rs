//! A disk whose fsyncs take long: a small library that is loaded before the server's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::line::Line;
use super::server::until;

/// The library's source.
const SOURCE: &str = include_str!("slow_fsync.c");

/// Where the library is, and the file whose presence makes fsyncs take long.
pub(super) struct SlowDisk {
    library: PathBuf,
    flag: PathBuf,
    held: PathBuf,
}

impl SlowDisk {
    /// Compiles the library into `dir`.
    ///
    /// # Errors
    /// Where there is no C compiler.
    pub(super) fn prepare(dir: &Path) -> Result<Self, String> {
        let (source, library) = (dir.join("slow_fsync.c"), dir.join("slow_fsync.so"));
        fs::write(&source, SOURCE).map_err(|error| error.to_string())?;
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .output();
        match compiled {
            Ok(output) if output.status.success() => Ok(Self {
                library,
                flag: dir.join("fsync-is-slow"),
                held: dir.join("fsync-is-held"),
            }),
            Ok(output) => Err(format!(
                "the library that delays fsync does not compile: {}",
                String::from_utf8_lossy(&output.stderr)
            )),
            Err(error) => Err(format!(
                "a slow disk needs a C compiler, cc, for the library that delays fsync: {error}"
            )),
        }
    }

    pub(super) fn preload(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("SLOW_FSYNC_FLAG", &self.flag)
            .env("SLOW_FSYNC_HELD", &self.held);
    }

    /// Makes fsyncs slow, and waits until one is under way. What the server writes from now on it
    /// acknowledges, and holds back for up to two seconds.
    pub(super) fn stall(&self, admin: &mut Line) -> Result<(), String> {
        fs::write(&self.flag, "").map_err(|error| error.to_string())?;
        until("a background fsync", || {
            // There must be something to synchronise. It leaves no key behind.
            admin.words(["SET", "fsync", ""])?;
            admin.words(["DEL", "fsync"])?;
            Ok(self.held.exists())
        })
    }

    /// Makes fsyncs as fast as they are.
    pub(super) fn recover(&self) -> Result<(), String> {
        for file in [&self.flag, &self.held] {
            if file.exists() {
                fs::remove_file(file).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }
}
