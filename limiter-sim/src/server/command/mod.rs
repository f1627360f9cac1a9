//! The commands: one table, and one file per family.

mod context;
mod expiry_options;
mod hashes;
mod keys;
mod list;
mod lists;
mod ranges;
mod scripting;
mod server;
mod sets;
mod sorted_sets;
mod strings;
mod table;
mod transactions;
mod unmodelled;

pub(crate) use context::Context;
pub(crate) use table::{Command, Flags, lookup};
pub(crate) use unmodelled::is_real;
