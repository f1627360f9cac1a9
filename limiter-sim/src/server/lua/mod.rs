//! Lua scripts: the real engine, in the server's sandbox, behind a memory of what scripts do.

mod bits;
mod cache;
mod call;
mod convert;
mod errors;
mod flags;
mod host;
mod json;
mod json_text;
mod library;
mod math;
mod memo;
mod prelude;
mod random;
mod run;
mod sandbox;
mod sha;
mod vm;

pub(crate) use cache::{CachedScript, ScriptCache};
pub(crate) use flags::{ScriptFlags, parse as parse_flags};
pub(crate) use random::RandomState;
pub use run::{ScriptMode, set_script_mode};
pub(crate) use run::{compile_error, run};
pub(crate) use sha::Sha;

/// What the server knows about the script that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScriptRun {
    /// Whether a write command was let through already.
    pub(crate) wrote: bool,
    pub(crate) read_only: bool,
    pub(crate) flags: ScriptFlags,
}
