//! The time rules as pure state machines: state, instant and request in, judgement out.
//!
//! They read no clock and do no I/O. The in-process store is built on them; the Redis scripts and
//! the simulator's judges say the same things again, on purpose, in their own words.
//!
//! Each rule has its own module. [`State`] is any of their states, and converts to and from bytes;
//! [`decide`] is a whole acquisition. So a store on any database is: in one transaction, load the
//! states, decide, save what changed.

pub mod aligned;
pub mod bucket;
mod bytes;
mod charge;
mod decide;
pub mod first_arrival;
mod give_back;
pub mod in_flight;
pub mod refundable;
pub mod rolling;
mod state;
mod verdict;
mod window;

pub use decide::{Step, decide};
pub use state::State;
pub use verdict::Verdict;
