//! The commands: one table, and one file per family.

mod connection;
mod context;
mod counters;
mod expiry_options;
mod hashes;
mod keys;
mod list;
mod lists;
mod ranges;
mod scripting;
mod server;
mod set;
mod sets;
mod sorted_sets;
mod strings;
mod subcommands;
mod table;
mod transactions;
mod unmodelled;

pub(crate) use context::Context;
pub(crate) use table::{Command, Flags, lookup};
pub(crate) use unmodelled::is_real;
