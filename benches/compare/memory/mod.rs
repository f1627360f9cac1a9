//! The in-process store beside other exact keyed limiters.

mod bytes;
mod limiters;
mod pauses;
mod workloads;

/// The section of the page.
pub(crate) fn section() -> String {
    [workloads::section(), bytes::section(), pauses::section()].concat()
}
