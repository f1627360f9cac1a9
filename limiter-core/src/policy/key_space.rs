//! What all budgets of one policy have in common, encoded once.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::TimeRule;

/// The layout of keys and of what is stored under them. It leads every key, so that a later layout
/// never misreads an old one.
const LAYOUT_VERSION: u32 = 1;

/// Escaped in a unit or scope: the separator, the escape itself, and the braces that mark a hash
/// tag in a Redis Cluster key.
const ESCAPED: &AsciiSet = &CONTROLS.add(b':').add(b'%').add(b'{').add(b'}').add(b' ');

/// The part of a budget's key that its policy decides: layout version, rule and stored form, length,
/// unit and scope. Equal key spaces share their budgets, whatever the policies' names and limits.
#[derive(Clone, Debug)]
pub struct KeySpace {
    id: u32,
    prefix: Arc<str>,
}

impl KeySpace {
    pub(super) fn new(rule: &TimeRule, refundable: bool, unit: &str, scope: &str) -> Self {
        let prefix = format!(
            "{LAYOUT_VERSION}:{kind}:{length}:{unit}:{scope}:",
            kind = rule.stored_form(refundable),
            length = rule.length().as_millis(),
            unit = utf8_percent_encode(unit, ESCAPED),
            scope = utf8_percent_encode(scope, ESCAPED),
        );
        intern(&prefix)
    }

    /// A number that is the same for equal key spaces of this process, and for no others. It lets
    /// an in-process store keep four bytes instead of the prefix in each of a million keys. It
    /// means nothing outside this process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The encoded prefix, with its closing separator: ASCII text without spaces or braces.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Finds or adds `prefix`. A process has as many entries as it ever built distinct policies; they
/// are never removed, because a store may still hold their numbers.
fn intern(prefix: &str) -> KeySpace {
    static SPACES: LazyLock<Mutex<HashMap<Arc<str>, u32>>> = LazyLock::new(Mutex::default);
    let mut spaces = SPACES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((prefix, &id)) = spaces.get_key_value(prefix) {
        return KeySpace {
            id,
            prefix: Arc::clone(prefix),
        };
    }
    let id = u32::try_from(spaces.len()).expect("fewer than 2^32 distinct policies in one process");
    let prefix = Arc::<str>::from(prefix);
    spaces.insert(Arc::clone(&prefix), id);
    KeySpace { id, prefix }
}
