//! A sorted-set value.

use std::hash::{Hash, Hasher};

use crate::server::Bytes;

/// Members with scores, ordered by score, then by bytes. Scores are never NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortedSet {
    members: Vec<(f64, Bytes)>,
}

impl Eq for SortedSet {}

impl Hash for SortedSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.members.len());
        for (score, member) in &self.members {
            // Zero and minus zero print differently, so they are different states.
            state.write_u64(score.to_bits());
            member.hash(state);
        }
    }
}

impl SortedSet {
    /// How many members there are.
    #[must_use]
    #[allow(
        clippy::len_without_is_empty,
        reason = "an empty sorted set does not exist in Redis"
    )]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Scores and members, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(f64, Bytes)> + ExactSizeIterator {
        self.members.iter()
    }

    /// The position of a member.
    #[must_use]
    pub fn rank(&self, member: &[u8]) -> Option<usize> {
        self.members
            .iter()
            .position(|(_, other)| **other == *member)
    }

    /// The score of a member.
    #[must_use]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.rank(member).map(|at| self.members[at].0)
    }

    /// Sets the score of a member; says whether the member is new.
    pub(crate) fn insert(&mut self, member: &Bytes, score: f64) -> bool {
        let old = self.rank(member).map(|at| self.members.remove(at));
        let at = self
            .members
            .partition_point(|(other, name)| (*other, name) < (score, member));
        self.members.insert(at, (score, member.clone()));
        old.is_none()
    }

    /// Removes a member; says whether it was there.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        self.rank(member)
            .map(|at| self.members.remove(at))
            .is_some()
    }

    /// Removes and returns the members at these positions.
    pub(crate) fn drain(&mut self, range: std::ops::Range<usize>) -> Vec<(f64, Bytes)> {
        self.members.drain(range).collect()
    }
}
