//! Whole-system tests, each on every server of this machine.

mod boundary;
mod contention;
mod denial;
mod expiry;
mod harness;
mod support;
