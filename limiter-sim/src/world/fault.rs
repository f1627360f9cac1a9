//! What can go wrong, by name.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

macro_rules! faults {
    ($($(#[$doc:meta])* $variant:ident $name:literal $about:literal;)*) => {
        /// One way in which the world fails.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[non_exhaustive]
        pub enum Fault {
            $(
                #[doc = $about]
                #[serde(rename = $name)]
                $variant,
            )*
        }

        impl Fault {
            /// Every fault, in the order in which the matrix shows them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it does, in one sentence.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about,)* }
            }
        }
    };
}

faults! {
    LostRequest "lost-request"
        "a request never reaches the server; its client gets a time-out";
    LostReply "lost-reply"
        "the server executes a request, and the reply is lost; its client gets a time-out";
    LateReply "late-reply"
        "the server executes a request, and the reply arrives some time later";
    ClientCrash "client-crash"
        "a client process ends between two of its commands, or before it hears of the last one";
    Evict "evict"
        "the server evicts a key, because other data needs its memory";
    OutOfMemory "out-of-memory"
        "the server refuses to use more memory, until some is freed";
    ScriptFlush "script-flush"
        "the server forgets its script cache";
    Restart "restart"
        "the server process is killed and started again with what its disk has";
    SlowDisk "slow-disk"
        "an fsync takes long, and the server acknowledges what it has not written";
    PowerLoss "power-loss"
        "the server's host loses power: what was not synchronised to disk is gone too";
    Failover "failover"
        "a replica that received a part of the writes is promoted, and the primary is gone";
    SplitBrain "split-brain"
        "a replica is promoted while the old primary still takes writes, which are lost when it learns";
    ClockJump "clock-jump"
        "a clock is set forward past a deadline, or back by a window";
    StaleRead "stale-read"
        "the replica stops receiving for a while, and answers with what it had";
}

impl Fault {
    /// Whether what was counted can be gone after it.
    pub(crate) const fn loses_state(self) -> bool {
        matches!(
            self,
            Self::Evict
                | Self::Restart
                | Self::PowerLoss
                | Self::Failover
                | Self::SplitBrain
                | Self::ClockJump
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().copied().find(|fault| fault.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|fault| fault.name()).collect();
            format!(
                "no fault has the name {name:?}; there are {}",
                names.join(", ")
            )
        })
    }
}

/// Which faults may happen, and how often.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FaultBounds {
    /// The most faults in one history, of all kinds together.
    pub(crate) total: u32,
    /// The kinds that may happen, each with its own bound.
    pub(crate) kinds: Vec<(Fault, u32)>,
}

/// How often each fault has happened in one history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct FaultCounts([u8; Fault::ALL.len()]);

impl FaultCounts {
    pub(crate) fn count(&mut self, fault: Fault) {
        self.0[fault as usize] += 1;
    }

    pub(crate) fn of(&self, fault: Fault) -> u32 {
        u32::from(self.0[fault as usize])
    }

    /// Whether it is counted at all.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.of(fault) > 0
    }

    pub(crate) fn total(&self) -> u32 {
        self.0.iter().map(|count| u32::from(*count)).sum()
    }
}

impl FaultBounds {
    /// Whether `fault` may happen once more.
    pub(crate) fn allow(&self, fault: Fault, so_far: &FaultCounts) -> bool {
        so_far.total() < self.total
            && self
                .kinds
                .iter()
                .any(|(kind, bound)| *kind == fault && so_far.of(fault) < *bound)
    }
}
