//! Random priorities with a few random changes (probabilistic concurrency testing, Burckhardt et
//! al., ASPLOS 2010): the process with the highest priority goes on, until a change point sends it
//! to the end of the queue. A violation that needs `d` such switches at the right steps is found with
//! probability at least 1/(n·k^(d−1)) for n processes and k steps.

use super::sampling::Strategy;
use crate::choose::Random;
use crate::world::Action;

/// Change points in one history.
const CHANGES: usize = 3;
/// Points at which something other than a process moves: a fault, time, the end of a fault.
const EVENTS: usize = 3;
/// How long the first history is taken to be.
const FIRST_LENGTH: usize = 64;

#[derive(Default)]
pub(super) struct Pct {
    /// Processes that have been seen, the most urgent first.
    order: Vec<u16>,
    step: usize,
    changes: Vec<usize>,
    events: Vec<usize>,
}

impl Strategy for Pct {
    fn begin(&mut self, steps: usize, random: &mut Random) {
        let length = if steps == 0 { FIRST_LENGTH } else { steps };
        self.order.clear();
        self.step = 0;
        self.changes = (0..CHANGES).map(|_| random.below(length)).collect();
        self.events = (0..EVENTS).map(|_| random.below(length)).collect();
    }

    fn choose(&mut self, actions: &[Action], random: &mut Random) -> usize {
        let step = self.step;
        self.step += 1;
        let moves = |at: &usize| actions[*at].fault().is_none() && actions[*at].process().is_some();
        let (processes, events): (Vec<usize>, Vec<usize>) = (0..actions.len()).partition(moves);
        if processes.is_empty() || (self.events.contains(&step) && !events.is_empty()) {
            return events[random.below(events.len())];
        }
        for at in &processes {
            let process = actions[*at].process().unwrap_or_default();
            if !self.order.contains(&process) {
                let place = random.below(self.order.len() + 1);
                self.order.insert(place, process);
            }
        }
        let urgency = |at: &usize| {
            let process = actions[*at].process().unwrap_or_default();
            self.order.iter().position(|other| *other == process)
        };
        let chosen = processes
            .into_iter()
            .min_by_key(urgency)
            .unwrap_or_default();
        if self.changes.contains(&step)
            && let Some(process) = actions[chosen].process()
        {
            self.order.retain(|other| *other != process);
            self.order.push(process);
        }
        chosen
    }
}
