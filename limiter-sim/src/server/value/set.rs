//! A set value.

use super::Text;

/// Members, in the order in which a small Redis set lists them: by number while all are integers, by
/// insertion once one is not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    members: Vec<Text>,
    integers_only: bool,
}

impl Default for Set {
    fn default() -> Self {
        Self {
            members: Vec::new(),
            integers_only: true,
        }
    }
}

impl Set {
    /// How many members there are.
    #[must_use]
    #[allow(
        clippy::len_without_is_empty,
        reason = "an empty set does not exist in Redis"
    )]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = &Text> {
        self.members.iter()
    }

    /// Whether this is a member.
    #[must_use]
    pub fn contains(&self, member: &Text) -> bool {
        self.members.contains(member)
    }

    /// Adds a member; says whether it is new.
    pub(crate) fn insert(&mut self, member: Text) -> bool {
        if self.contains(&member) {
            return false;
        }
        self.integers_only &= member.as_int().is_some();
        let at = if self.integers_only {
            self.members
                .partition_point(|other| other.as_int() < member.as_int())
        } else {
            self.members.len()
        };
        self.members.insert(at, member);
        true
    }

    /// Removes a member; says whether it was there.
    pub(crate) fn remove(&mut self, member: &Text) -> bool {
        let at = self.members.iter().position(|other| other == member);
        at.map(|at| self.members.remove(at)).is_some()
    }
}
