//! The time rules as pure state machines: state, instant and request in, judgement out.
//!
//! They read no clock and do no I/O. The in-process store is built on them; the Redis scripts and
//! the simulator's judges say the same things again, on purpose, in their own words.

pub mod first_arrival;
