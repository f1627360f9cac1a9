//! The tests, one function for each clause. Each looks at its own clause and takes the others for
//! granted as little as it can, so that a store that breaks one is told that one.

pub(super) mod counting;
pub(super) mod edges;
pub(super) mod ids;
pub(super) mod refunds;
pub(super) mod rules;
pub(super) mod several;
pub(super) mod times;
