//! The in-process store beside other exact keyed limiters.

mod bytes;
mod limiters;
mod pauses;
mod workloads;

use crate::goals;

/// The section of the page.
pub(crate) fn section() -> String {
    let parts = [workloads::section(), bytes::section(), pauses::section()];
    let (sections, goals): (Vec<String>, Vec<_>) = parts.into_iter().unzip();
    let goals: Vec<_> = goals.into_iter().flatten().collect();
    goals::section(&goals) + &sections.concat()
}
