//! What searches notice beside histories.

use std::collections::BTreeSet;

use crate::world::{Fault, Simulation};

/// What a simulation has noticed so far.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// Faults that had a consequence.
    pub(super) bit: BTreeSet<Fault>,
    pub(super) notes: BTreeSet<String>,
    /// Why nothing that is found can be relied on.
    pub(super) trouble: Option<String>,
}

impl Aside {
    pub(super) fn of(simulation: &Simulation) -> Self {
        let kinds = simulation.scenario.faults.kinds.iter();
        let bit = kinds
            .map(|(fault, _)| *fault)
            .filter(|fault| simulation.bites.has(*fault));
        Self {
            bit: bit.collect(),
            notes: simulation.notes.clone(),
            trouble: simulation.trouble.clone(),
        }
    }

    /// What `later` has noticed as well.
    pub(super) fn add(&mut self, later: Self) {
        self.bit.extend(later.bit);
        self.notes.extend(later.notes);
        self.trouble = self.trouble.take().or(later.trouble);
    }
}
