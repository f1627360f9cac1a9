//! The command table: name, arity, flags, keys, and the function that executes.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::context::{Context, Outcome};
use super::list::FAMILIES;
use crate::server::number::parse_integer;
use crate::server::reply::Failure;
use crate::server::{Bytes, Node, Request, Version};

/// What a command may do and when it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    pub(crate) const READ: Self = Self(0);
    /// May change data.
    pub(crate) const WRITE: Self = Self(1);
    /// Needs memory.
    pub(crate) const DENY_OOM: Self = Self(2);
    /// Not from scripts.
    pub(crate) const NO_SCRIPT: Self = Self(4);
    /// Also while a dataset is loaded.
    pub(crate) const LOADING: Self = Self(8);
    /// Executed at once in a transaction.
    pub(crate) const UNQUEUED: Self = Self(16);
    /// Refused in a transaction by Valkey.
    pub(crate) const NO_MULTI: Self = Self(32);
    /// Allowed in a transaction when memory is short.
    pub(crate) const ENDS_MULTI: Self = Self(64);
    /// Scripts: may do anything.
    pub(crate) const SCRIPT: Self = Self(128);
    /// Allowed from scripts since Redis 7.2.
    pub(crate) const SCRIPT_SINCE_82: Self = Self(256);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Where a command's keys are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    None,
    One,
    Two,
    /// From the first argument to the end.
    All,
    /// Every other argument: `key value key value`.
    Pairs,
    /// A count in the second argument, then so many keys.
    Counted,
}

/// Checks a request before its command runs.
pub(crate) type Check = fn(&Node, &Request) -> Result<(), Failure>;

/// One command of the table.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// The number of words; negative: at least so many.
    pub(crate) arity: i8,
    pub(crate) flags: Flags,
    pub(crate) keys: Keys,
    pub(crate) since: Version,
    /// Another number of words in versions up to this one.
    old_arity: Option<(Version, i8)>,
    pub(crate) run: fn(&mut Context<'_>) -> Outcome,
    /// From Redis 7.0 on: checks the subcommand before the command runs.
    pub(crate) subcommands: Option<Check>,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A command that every version has.
pub(super) const fn command(
    name: &'static str,
    arity: i8,
    flags: Flags,
    keys: Keys,
    run: fn(&mut Context<'_>) -> Outcome,
) -> Command {
    Command {
        name,
        arity,
        flags,
        keys,
        since: Version::Redis62,
        old_arity: None,
        run,
        subcommands: None,
    }
}

impl Command {
    pub(super) const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }

    pub(super) const fn arity_until(mut self, version: Version, arity: i8) -> Self {
        self.old_arity = Some((version, arity));
        self
    }

    pub(super) const fn subcommands(mut self, check: Check) -> Self {
        self.subcommands = Some(check);
        self
    }

    pub(crate) fn accepts(&self, words: usize, version: Version) -> bool {
        let arity = match self.old_arity {
            Some((last, arity)) if version <= last => arity,
            _ => self.arity,
        };
        let least = usize::from(arity.unsigned_abs());
        if arity < 0 {
            words >= least
        } else {
            words == least
        }
    }

    pub(crate) fn may_write(&self) -> bool {
        self.flags.has(Flags::WRITE) || self.flags.has(Flags::SCRIPT)
    }

    /// The keys that the words name.
    pub(crate) fn keys<'a>(&self, argv: &'a [Bytes]) -> impl Iterator<Item = &'a Bytes> {
        let len = argv.len();
        let (first, last, step) = match self.keys {
            Keys::None => (1, 1, 1),
            Keys::One => (1, 2, 1),
            Keys::Two => (1, 3, 1),
            Keys::All => (1, len, 1),
            Keys::Pairs => (1, len, 2),
            Keys::Counted => {
                let count = argv
                    .get(2)
                    .and_then(|word| parse_integer(word))
                    .unwrap_or(0);
                (3, usize::try_from(count).unwrap_or(0).saturating_add(3), 1)
            }
        };
        let last = last.min(len);
        argv[first.min(last)..last].iter().step_by(step)
    }
}

/// The command of this name, in any case.
pub(crate) fn lookup(name: &[u8]) -> Option<&'static Command> {
    static INDEX: OnceLock<HashMap<&'static [u8], &'static Command>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let all = FAMILIES.iter().flat_map(|table| table.iter());
        all.map(|command| (command.name.as_bytes(), command))
            .collect()
    });
    let mut lower = [0_u8; 20];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    index.get(&*lower).copied()
}
