//! What has to be prepared before a history is taken on real servers: a replica can be cut off, and
//! a snapshot taken, only while the server is where the model says that they stopped.

use crate::scenario::Scenario;
use crate::trace::Replay;
use crate::world::{Action, EPOCH_MS};

/// The longest that a history may let time pass, in milliseconds: it is really waited for.
pub(super) const LONGEST_WAIT_MS: u64 = 60_000;

/// The longest window: what a history leaves behind shows after eleven of them.
const LONGEST_WINDOW_MS: u64 = 5_000;

/// What is to be done between two steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Preparation {
    /// The replica that will be promoted stops receiving here.
    pub(super) cut_off_replica: bool,
    /// The snapshot from which the server will start again is of this instant.
    pub(super) snapshot: bool,
}

/// For each step, what is to be done before it.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    preparations: Vec<Preparation>,
    promotions: Vec<usize>,
    slows_disk: bool,
}

/// Whether real processes can take every step.
///
/// # Errors
/// Names the step that they cannot take, and why.
pub(super) fn check(history: &[Action], scenario: &Scenario) -> Result<(), String> {
    let window_ms = scenario.parameters.window_ms;
    if window_ms > LONGEST_WINDOW_MS {
        return Err(format!(
            "the window is {window_ms} ms long, and a dozen of them are waited for; at most \
             {LONGEST_WINDOW_MS} ms are: explore with a shorter --window-ms"
        ));
    }
    let mut now = EPOCH_MS;
    for (number, action) in history.iter().enumerate() {
        let cannot = |why: &str| Err(format!("step {} ({action}) {why}", number + 1));
        match action {
            Action::PowerLoss { .. } => {
                return cannot(
                    "is a loss of power, which a process cannot suffer alone: what the operating \
                     system has not written survives every kill; replay it in the model",
                );
            }
            Action::NodeClock { .. } => {
                return cannot(
                    "sets the clock of a server's host, which its processes share; replay it in \
                     the model",
                );
            }
            Action::Advance { to } => {
                if to.saturating_sub(now) > LONGEST_WAIT_MS {
                    return cannot(&format!(
                        "lets {} ms pass, which would be waited for; at most {LONGEST_WAIT_MS} ms \
                         are",
                        to.saturating_sub(now)
                    ));
                }
                now = *to;
            }
            _ => {}
        }
    }
    Ok(())
}

impl Plan {
    /// # Errors
    /// Where a disk or replica is to stop inside of one step, which cannot be done from outside.
    pub(super) fn of(history: &[Action], model: &Replay) -> Result<Self, String> {
        let mut preparations = vec![Preparation::default(); history.len()];
        let mut promotions = Vec::new();
        for (number, action) in history.iter().enumerate() {
            // A replica follows the primary that there was since the promotion before.
            let since = promotions.last().map_or(0, |last| last + 1);
            let (kept, snapshot) = match action {
                Action::Restart { kept, .. } => (*kept, true),
                Action::Failover { received } | Action::SplitBrain { received } => {
                    promotions.push(number);
                    (*received, false)
                }
                _ => continue,
            };
            let before = |step: &usize| match step.checked_sub(1) {
                None => 0,
                Some(last) => model.moments[last].log_len,
            };
            let at = (since..=number)
                .rev()
                .find(|step| before(step) == kept as usize);
            match at {
                Some(step) if snapshot => preparations[step].snapshot = true,
                Some(step) => preparations[step].cut_off_replica = true,
                // Where no snapshot decides what survives, the server itself does.
                None if snapshot => {}
                None => {
                    return Err(format!(
                        "step {} ({action}) stops a replica inside of one step, where it cannot \
                         be cut off from outside",
                        number + 1
                    ));
                }
            }
        }
        Ok(Self {
            preparations,
            promotions,
            slows_disk: history.contains(&Action::SlowDisk),
        })
    }

    pub(super) fn before(&self, step: usize) -> Preparation {
        self.preparations[step]
    }

    /// Whether some fsync takes long.
    pub(super) fn slows_disk(&self) -> bool {
        self.slows_disk
    }

    /// Whether a replica is promoted in step number `step` or later.
    pub(super) fn promotes_from(&self, step: usize) -> bool {
        self.promotions.iter().any(|promotion| *promotion >= step)
    }
}
