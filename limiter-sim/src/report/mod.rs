//! Results in words and numbers, for people and for programs.

mod brief;
mod cell;
mod exploration;
mod matrix;
mod regression;
mod side_by_side;
mod story;
mod table;

#[cfg(test)]
pub(crate) use cell::Block;
pub(crate) use cell::Cell;
pub use exploration::Exploration;
pub(crate) use matrix::Matrix;
pub(crate) use side_by_side::side_by_side;
pub(crate) use story::replayed;
pub(crate) use table::Style;
