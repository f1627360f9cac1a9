//! What the scheduler can choose.

use std::fmt;
use std::str::FromStr;

use super::{EPOCH_MS, Fault};

/// One step of a history. The order in which steps are offered is fixed, and the first is always
/// that the client that moved last goes on, with no fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Action {
    /// A process takes one of the things that it can do next: the server executes its next request
    /// and the reply is delivered.
    Go {
        /// The process, from 0.
        process: u16,
        /// Which of the things that it can do next; 0 unless its clients share state.
        lane: u16,
        /// Whether request and reply get through.
        way: Way,
    },
    /// A reply that was held back arrives.
    Arrive {
        /// The process that it is for.
        process: u16,
    },
    /// Time passes, until this instant.
    Advance {
        /// Reference time in milliseconds.
        to: u64,
    },
    /// A process ends, and does not return.
    Crash {
        /// The process.
        process: u16,
    },
    /// A process ends and begins anew, with nothing of what it had in memory.
    Reboot {
        /// The process.
        process: u16,
    },
    /// A process's clock is set to show this much more (or less) than it does.
    ProcessClock {
        /// The process.
        process: u16,
        /// By how much, in milliseconds.
        by_ms: i64,
    },
    /// A node evicts one of its keys.
    Evict {
        /// The node.
        node: u16,
        /// Which of its evictable keys, in byte order.
        key: u16,
    },
    /// A node has no memory left.
    Full {
        /// The node.
        node: u16,
    },
    /// A node has memory again. Not a fault.
    Freed {
        /// The node.
        node: u16,
    },
    /// A node forgets its scripts.
    FlushScripts {
        /// The node.
        node: u16,
    },
    /// A node is killed, and comes back with the first `kept` of the effects in its log.
    Restart {
        /// The node.
        node: u16,
        /// How many effects survive.
        kept: u32,
    },
    /// An fsync begins that takes long.
    SlowDisk,
    /// A node's host loses power; it comes back with the first `kept` of the effects in its log.
    PowerLoss {
        /// The node.
        node: u16,
        /// How many effects survive.
        kept: u32,
    },
    /// A replica that received the first `received` effects takes the place of the primary.
    Failover {
        /// How many effects it has.
        received: u32,
    },
    /// A replica that received the first `received` effects is promoted beside the primary.
    SplitBrain {
        /// How many effects it has.
        received: u32,
    },
    /// The old primary learns that it is one no more. Not a fault.
    Heal,
    /// A node's clock is set to show this much more (or less) than it does.
    NodeClock {
        /// The node.
        node: u16,
        /// By how much, in milliseconds.
        by_ms: i64,
    },
    /// The replica stops receiving.
    Stall,
    /// The replica has received all. Not a fault.
    CatchUp,
}

/// What happens to a request and its reply on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Way {
    /// Both get through.
    #[default]
    Through,
    /// The request does not reach the server.
    LostRequest,
    /// The reply does not reach the client.
    LostReply,
    /// The reply reaches the client some steps later.
    LateReply,
    /// The client's process ends before the reply reaches it.
    Crash,
    /// The connection, which is not open yet, reaches an old primary that does not know that it is
    /// one no more. Not a fault.
    ToOld,
}

impl Action {
    /// The fault that this step is, if it is one.
    pub(crate) fn fault(self) -> Option<Fault> {
        match self {
            Self::Go { way, .. } => match way {
                Way::Through | Way::ToOld => None,
                Way::LostRequest => Some(Fault::LostRequest),
                Way::LostReply => Some(Fault::LostReply),
                Way::LateReply => Some(Fault::LateReply),
                Way::Crash => Some(Fault::ClientCrash),
            },
            Self::Arrive { .. } | Self::Advance { .. } | Self::Freed { .. } => None,
            Self::Heal | Self::CatchUp => None,
            Self::Crash { .. } => Some(Fault::ClientCrash),
            Self::Reboot { .. } | Self::Restart { .. } => Some(Fault::Restart),
            Self::ProcessClock { .. } | Self::NodeClock { .. } => Some(Fault::ClockJump),
            Self::Evict { .. } => Some(Fault::Evict),
            Self::Full { .. } => Some(Fault::OutOfMemory),
            Self::FlushScripts { .. } => Some(Fault::ScriptFlush),
            Self::SlowDisk => Some(Fault::SlowDisk),
            Self::PowerLoss { .. } => Some(Fault::PowerLoss),
            Self::Failover { .. } => Some(Fault::Failover),
            Self::SplitBrain { .. } => Some(Fault::SplitBrain),
            Self::Stall => Some(Fault::StaleRead),
        }
    }

    /// The process that moves, if it is one.
    pub(crate) fn process(self) -> Option<u16> {
        match self {
            Self::Go { process, .. }
            | Self::Arrive { process }
            | Self::Crash { process }
            | Self::Reboot { process }
            | Self::ProcessClock { process, .. } => Some(process),
            _ => None,
        }
    }

    /// The same step by another worker.
    pub(crate) fn renamed(mut self, name: &mut impl FnMut(u16) -> u16) -> Self {
        match &mut self {
            Self::Go { process, .. }
            | Self::Arrive { process }
            | Self::Crash { process }
            | Self::Reboot { process }
            | Self::ProcessClock { process, .. } => *process = name(*process),
            _ => {}
        }
        self
    }
}

impl Way {
    const NAMES: [(Self, &'static str); 5] = [
        (Self::LostRequest, "lostrequest"),
        (Self::LostReply, "lostreply"),
        (Self::LateReply, "latereply"),
        (Self::Crash, "crash"),
        (Self::ToOld, "old"),
    ];
}

/// `w3`, `w3-1` (its second lane), `w3-lostreply`, `t1001` (1,001 ms after the beginning),
/// `failover-2`, `clock0-f1001` (forward), …: a word, numbers, and words for what is special.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Go { process, lane, way } => {
                write!(f, "w{process}")?;
                if lane > 0 {
                    write!(f, "-{lane}")?;
                }
                match Way::NAMES.iter().find(|(named, _)| *named == way) {
                    Some((_, name)) => write!(f, "-{name}"),
                    None => Ok(()),
                }
            }
            Self::Arrive { process } => write!(f, "arrive{process}"),
            Self::Advance { to } => write!(f, "t{}", to - EPOCH_MS),
            Self::Crash { process } => write!(f, "crash{process}"),
            Self::Reboot { process } => write!(f, "reboot{process}"),
            Self::ProcessClock { process, by_ms } => write!(f, "skew{process}-{}", Jump(by_ms)),
            Self::Evict { node, key } => write!(f, "evict{node}-{key}"),
            Self::Full { node } => write!(f, "full{node}"),
            Self::Freed { node } => write!(f, "freed{node}"),
            Self::FlushScripts { node } => write!(f, "flush{node}"),
            Self::Restart { node, kept } => write!(f, "restart{node}-{kept}"),
            Self::SlowDisk => f.write_str("slow"),
            Self::PowerLoss { node, kept } => write!(f, "power{node}-{kept}"),
            Self::Failover { received } => write!(f, "failover{received}"),
            Self::SplitBrain { received } => write!(f, "brain{received}"),
            Self::Heal => f.write_str("heal"),
            Self::NodeClock { node, by_ms } => write!(f, "clock{node}-{}", Jump(by_ms)),
            Self::Stall => f.write_str("stall"),
            Self::CatchUp => f.write_str("caughtup"),
        }
    }
}

/// `f1001` forward, `b1000` back.
struct Jump(i64);

impl fmt::Display for Jump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.0 < 0 { 'b' } else { 'f' };
        write!(f, "{way}{}", self.0.unsigned_abs())
    }
}

impl FromStr for Action {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let word_end = text
            .find(|c: char| !c.is_ascii_lowercase())
            .unwrap_or(text.len());
        let (word, rest) = text.split_at(word_end);
        let mut numbers = rest.split('-').filter(|part| !part.is_empty());
        let action = match word {
            "w" => return parse_go(rest),
            "t" => Self::Advance {
                to: EPOCH_MS.checked_add(next(&mut numbers)?).ok_or(())?,
            },
            "arrive" => Self::Arrive {
                process: next(&mut numbers)?,
            },
            "crash" => Self::Crash {
                process: next(&mut numbers)?,
            },
            "reboot" => Self::Reboot {
                process: next(&mut numbers)?,
            },
            "skew" => Self::ProcessClock {
                process: next(&mut numbers)?,
                by_ms: parse_jump(numbers.next().ok_or(())?)?,
            },
            "evict" => Self::Evict {
                node: next(&mut numbers)?,
                key: next(&mut numbers)?,
            },
            "full" => Self::Full {
                node: next(&mut numbers)?,
            },
            "freed" => Self::Freed {
                node: next(&mut numbers)?,
            },
            "flush" => Self::FlushScripts {
                node: next(&mut numbers)?,
            },
            "restart" => Self::Restart {
                node: next(&mut numbers)?,
                kept: next(&mut numbers)?,
            },
            "slow" => Self::SlowDisk,
            "power" => Self::PowerLoss {
                node: next(&mut numbers)?,
                kept: next(&mut numbers)?,
            },
            "failover" => Self::Failover {
                received: next(&mut numbers)?,
            },
            "brain" => Self::SplitBrain {
                received: next(&mut numbers)?,
            },
            "heal" => Self::Heal,
            "clock" => Self::NodeClock {
                node: next(&mut numbers)?,
                by_ms: parse_jump(numbers.next().ok_or(())?)?,
            },
            "stall" => Self::Stall,
            "caughtup" => Self::CatchUp,
            _ => return Err(()),
        };
        match numbers.next() {
            None => Ok(action),
            Some(_) => Err(()),
        }
    }
}

fn next<'a, N: FromStr>(numbers: &mut impl Iterator<Item = &'a str>) -> Result<N, ()> {
    numbers.next().ok_or(())?.parse().map_err(drop)
}

fn parse_go(rest: &str) -> Result<Action, ()> {
    let mut parts = rest.split('-').peekable();
    let process = next(&mut parts)?;
    let is_number = |part: &&str| part.bytes().all(|b| b.is_ascii_digit());
    let lane = match parts.next_if(is_number) {
        Some(lane) => lane.parse().map_err(drop)?,
        None => 0,
    };
    let way = match parts.next() {
        None => Way::Through,
        Some(name) => {
            Way::NAMES
                .iter()
                .find(|(_, known)| *known == name)
                .ok_or(())?
                .0
        }
    };
    match parts.next() {
        None => Ok(Action::Go { process, lane, way }),
        Some(_) => Err(()),
    }
}

fn parse_jump(text: &str) -> Result<i64, ()> {
    let by: i64 = text.get(1..).ok_or(())?.parse().map_err(drop)?;
    match text.as_bytes().first() {
        Some(b'f') => Ok(by),
        Some(b'b') => Ok(-by),
        _ => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_step_reads_back_as_it_was_written() {
        let steps = [
            Action::Go {
                process: 12,
                lane: 0,
                way: Way::Through,
            },
            Action::Go {
                process: 12,
                lane: 3,
                way: Way::LostReply,
            },
            Action::Go {
                process: 0,
                lane: 0,
                way: Way::Crash,
            },
            Action::Arrive { process: 4 },
            Action::Advance {
                to: EPOCH_MS + 1001,
            },
            Action::Crash { process: 1 },
            Action::Reboot { process: 1 },
            Action::ProcessClock {
                process: 1,
                by_ms: -1000,
            },
            Action::Evict { node: 0, key: 2 },
            Action::Full { node: 0 },
            Action::Freed { node: 0 },
            Action::FlushScripts { node: 0 },
            Action::Restart { node: 0, kept: 5 },
            Action::SlowDisk,
            Action::PowerLoss { node: 0, kept: 5 },
            Action::Failover { received: 2 },
            Action::SplitBrain { received: 2 },
            Action::Heal,
            Action::NodeClock {
                node: 0,
                by_ms: 1001,
            },
            Action::Stall,
            Action::CatchUp,
        ];
        for step in steps {
            assert_eq!(step.to_string().parse(), Ok(step), "{step}");
        }
    }
}
