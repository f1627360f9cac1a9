//! What a key can hold.

mod hash;
mod list;
mod set;
mod sorted_set;
mod text;

use std::fmt;
use std::sync::Arc;

pub use hash::Hash;
pub use list::List;
pub use set::Set;
pub use sorted_set::SortedSet;
pub use text::Text;

/// The value of a key. Cloning shares collections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// A string.
    Text(Text),
    /// A hash.
    Hash(Arc<Hash>),
    /// A list.
    List(Arc<List>),
    /// A set.
    Set(Arc<Set>),
    /// A sorted set.
    SortedSet(Arc<SortedSet>),
}

impl Value {
    /// The name that `TYPE` gives.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Hash(_) => "hash",
            Self::List(_) => "list",
            Self::Set(_) => "set",
            Self::SortedSet(_) => "zset",
        }
    }

    /// Whether this is a collection without elements: Redis removes such keys.
    pub(crate) fn is_empty_collection(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Hash(hash) => hash.len() == 0,
            Self::List(list) => list.len() == 0,
            Self::Set(set) => set.len() == 0,
            Self::SortedSet(zset) => zset.len() == 0,
        }
    }
}

/// For stories: the string itself, or the elements in braces.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{}", text.to_bytes()),
            Self::Hash(hash) => list_of(
                f,
                '{',
                '}',
                hash.iter()
                    .map(|(field, value)| format!("{field}={}", value.to_bytes())),
            ),
            Self::List(list) => list_of(
                f,
                '[',
                ']',
                list.iter().map(|text| text.to_bytes().to_string()),
            ),
            Self::Set(set) => list_of(
                f,
                '{',
                '}',
                set.iter().map(|text| text.to_bytes().to_string()),
            ),
            Self::SortedSet(zset) => list_of(
                f,
                '{',
                '}',
                zset.iter()
                    .map(|(score, member)| format!("{member}@{score}")),
            ),
        }
    }
}

fn list_of(
    f: &mut fmt::Formatter<'_>,
    open: char,
    close: char,
    elements: impl Iterator<Item = String>,
) -> fmt::Result {
    let elements: Vec<String> = elements.collect();
    write!(f, "{open}{}{close}", elements.join(", "))
}
