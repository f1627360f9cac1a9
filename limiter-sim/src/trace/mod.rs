//! Histories: as tokens that replay them, and as stories that people read.

mod replay;
mod shrink;
mod step;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use replay::{Moment, Replay, replay};
pub(crate) use shrink::shrink;
pub(crate) use step::Step;
pub(crate) use token::Token;
