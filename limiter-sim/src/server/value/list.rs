//! A list value.

use std::collections::VecDeque;

use super::Text;

/// Elements from left to right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct List {
    elements: VecDeque<Text>,
}

impl List {
    /// How many elements there are.
    #[must_use]
    #[allow(
        clippy::len_without_is_empty,
        reason = "an empty list does not exist in Redis"
    )]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// The elements from left to right.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Text> + ExactSizeIterator {
        self.elements.iter()
    }

    pub(crate) fn elements(&mut self) -> &mut VecDeque<Text> {
        &mut self.elements
    }
}
