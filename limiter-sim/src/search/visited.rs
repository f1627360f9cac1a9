//! The states that were seen.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::fingerprint::{AlreadyHashed, Digest};
use crate::world::World;

/// A set of states. A state in which clients, servers and time are the same as in one that was seen,
/// and no more was admitted or wasted, is taken for seen: whatever follows it is no worse.
#[derive(Debug, Default)]
pub(crate) struct Visited {
    situations: HashMap<u128, Sums, AlreadyHashed>,
    /// Those with equal situations, and other sums, of which neither is worse.
    others: HashMap<u128, Vec<Sums>, AlreadyHashed>,
    states: u64,
}

/// What was admitted, and what was wasted.
type Sums = (u64, u64);

impl Visited {
    /// Whether `world` is seen for the first time.
    pub(crate) fn insert(&mut self, world: &World, can_time_pass: bool) -> bool {
        let sums = world.ledger.sums_at(world.now).filter(|_| !can_time_pass);
        let (state, sums) = match sums {
            Some(sums) => (world.situation(), sums),
            None => (world.digest(), (0, 0)),
        };
        let new = self.insert_sums(state, sums);
        self.states += u64::from(new);
        new
    }

    /// What `other` saw is seen too.
    pub(super) fn add(&mut self, other: Self) {
        if self.states == 0 {
            *self = other;
            return;
        }
        let others = other.others.into_iter();
        let others = others.flat_map(|(state, all)| all.into_iter().map(move |sums| (state, sums)));
        for (state, sums) in other.situations.into_iter().chain(others) {
            self.states += u64::from(self.insert_sums(Digest(state), sums));
        }
    }

    fn insert_sums(&mut self, state: Digest, sums: Sums) -> bool {
        let covers = |seen: &Sums| seen.0 >= sums.0 && seen.1 >= sums.1;
        let mut entry = match self.situations.entry(state.0) {
            Entry::Vacant(entry) => {
                entry.insert(sums);
                return true;
            }
            Entry::Occupied(entry) => entry,
        };
        if covers(entry.get()) {
            return false;
        }
        let is_better = |seen: &Sums| seen.0 <= sums.0 && seen.1 <= sums.1;
        if is_better(entry.get()) {
            entry.insert(sums);
            return true;
        }
        let others = self.others.entry(state.0).or_default();
        if others.iter().any(covers) {
            return false;
        }
        others.retain(|seen| !is_better(seen));
        others.push(sums);
        true
    }

    /// How many states were seen.
    pub(crate) fn len(&self) -> u64 {
        self.states
    }
}
