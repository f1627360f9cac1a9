//! What the simulator promises, from outside: bounds in theory, repeatability, no silent passes, and
//! the command line.

mod agreement;
mod away;
mod bounds;
mod cli;
mod determinism;
mod giving_back;
mod order;
mod promised;
mod property;
mod replicas;
mod rules;
mod states;
mod support;
mod vacuity;
mod wrapped;
