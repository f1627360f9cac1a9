//! The servers whose behaviour the model knows.

use std::fmt;

/// A server version, in the order in which behaviour grew.
///
/// Each stands for the release that the differential tests compare with; other patch releases of
/// the same line may differ in texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Redis 6.2 (compared with 6.2.14).
    Redis62,
    /// Redis 7.0 (compared with 7.0.15).
    #[default]
    Redis70,
    /// Redis 8.2 (compared with 8.2.3).
    Redis82,
    /// Valkey 9.1 (compared with 9.1.2).
    Valkey91,
}

impl Version {
    /// Every version, oldest first.
    pub const ALL: [Self; 4] = [Self::Redis62, Self::Redis70, Self::Redis82, Self::Valkey91];

    /// Whether this is Valkey rather than Redis.
    #[must_use]
    pub fn is_valkey(self) -> bool {
        self == Self::Valkey91
    }

    /// The full number of the release that stands for this version.
    #[must_use]
    pub fn number(self) -> &'static str {
        match self {
            Self::Redis62 => "6.2.14",
            Self::Redis70 => "7.0.15",
            Self::Redis82 => "8.2.3",
            Self::Valkey91 => "9.1.2",
        }
    }

    /// What the server calls itself in its texts.
    pub(crate) fn product(self) -> &'static str {
        if self.is_valkey() { "Valkey" } else { "Redis" }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.product(), self.number())
    }
}
