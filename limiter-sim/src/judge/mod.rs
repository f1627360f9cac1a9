//! Judges, one for each rule. They look at a history of admissions and at the promise, and share no
//! code with any store.

mod aligned;
mod bucket;
mod first_arrival;
mod history;
mod in_flight;
mod linearizable;
mod overspend;
mod promise;
#[cfg(test)]
mod references;
mod rolling;

pub use aligned::aligned;
pub use bucket::bucket;
pub use first_arrival::first_arrival;
pub use history::{Change, Entry};
pub use in_flight::in_flight;
pub use linearizable::{Answer, Call, linearizes};
pub use overspend::max_admitted;
pub use promise::{History, Promise};
pub use rolling::rolling;
