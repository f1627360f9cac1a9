//! Whole-system tests, each on every server of this machine.

mod harness;
