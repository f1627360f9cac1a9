//! Whole-system tests, each on every server of this machine.

mod agreement;
mod boundary;
mod conformance;
mod contention;
mod corrupt;
mod crash;
mod denial;
mod expiry;
mod guarantees;
mod harness;
mod load;
mod lossy;
mod refusals;
mod soak;
mod support;
mod topology;
