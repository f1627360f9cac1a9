//! Judges. They look at a history of admissions and at the promise, and share no code with any
//! store.

mod linearizable;
mod overspend;

pub use linearizable::{Answer, Call, linearizes};
pub use overspend::max_admitted;
