//! A hash value.

use super::Text;
use crate::server::Bytes;

/// Fields with their values, in the order in which a small Redis hash lists them: by insertion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hash {
    fields: Vec<(Bytes, Text)>,
}

impl Hash {
    /// How many fields there are.
    #[must_use]
    #[allow(
        clippy::len_without_is_empty,
        reason = "an empty hash does not exist in Redis"
    )]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// The value of a field.
    #[must_use]
    pub fn field(&self, field: &[u8]) -> Option<&Text> {
        self.fields
            .iter()
            .find(|(name, _)| **name == *field)
            .map(|(_, value)| value)
    }

    /// The fields and their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = &(Bytes, Text)> {
        self.fields.iter()
    }

    /// Sets a field; says whether it is new.
    pub(crate) fn insert(&mut self, field: &Bytes, value: Text) -> bool {
        if let Some((_, old)) = self.fields.iter_mut().find(|(name, _)| name == field) {
            *old = value;
            return false;
        }
        self.fields.push((field.clone(), value));
        true
    }

    /// Removes a field; says whether it was there.
    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        let at = self.fields.iter().position(|(name, _)| **name == *field);
        at.map(|at| self.fields.remove(at)).is_some()
    }
}
