//! Results in words and numbers, for people and for programs.

mod cell;
mod exploration;
mod matrix;
mod regression;
mod story;
mod table;

pub(crate) use cell::Cell;
pub use exploration::Exploration;
pub(crate) use matrix::Matrix;
pub(crate) use story::replayed;
pub(crate) use table::Style;
