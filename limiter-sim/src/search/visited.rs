//! The states that were seen.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

use crate::fingerprint::{AlreadyHashed, Digest};
use crate::world::World;

/// A set of states. A state in which clients, servers and time are the same as in one that was seen,
/// and no more was admitted or wasted, is taken for seen: whatever follows it is no worse.
///
/// # Memory
/// Searches are as long as memory lasts, and this is what grows. An entry is 24 bytes and a tag; a table
/// that has just grown is seven sixteenths full. So a state takes 29 to 58 bytes.
#[derive(Debug, Default)]
pub(crate) struct Visited {
    situations: HashMap<Situation, SmallSums, AlreadyHashed>,
    /// Those with equal situations, and other sums, of which neither is worse; and sums that are not
    /// small.
    others: HashMap<Situation, Vec<Sums>, AlreadyHashed>,
    /// Whether there ever were such.
    has_large: bool,
    states: u64,
}

/// What was admitted, and what was wasted.
type Sums = (u64, u64);

/// Sums of 32 bits each.
#[derive(Clone, Copy, Debug)]
struct SmallSums([u32; 2]);

/// A digest in two halves, because a `u128` is aligned to sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Situation([u64; 2]);

const _: () = assert!(size_of::<(Situation, SmallSums)>() == 24);

impl SmallSums {
    fn of(sums: Sums) -> Option<Self> {
        Some(Self([sums.0.try_into().ok()?, sums.1.try_into().ok()?]))
    }

    fn sums(self) -> Sums {
        let [admitted, wasted] = self.0.map(u64::from);
        (admitted, wasted)
    }
}

impl From<Digest> for Situation {
    #[allow(clippy::cast_possible_truncation)] // Half and half.
    fn from(digest: Digest) -> Self {
        Self([(digest.0 >> 64) as u64, digest.0 as u64])
    }
}

impl Hash for Situation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [high, low] = self.0.map(u128::from);
        state.write_u128(high << 64 | low);
    }
}

impl Visited {
    /// Whether `world` is seen for the first time.
    pub(crate) fn insert(&mut self, world: &World, can_time_pass: bool) -> bool {
        let sums = world.ledger.sums_at(world.now).filter(|_| !can_time_pass);
        let (state, sums) = match sums {
            Some(sums) => (world.situation(), sums),
            None => (world.digest(), (0, 0)),
        };
        let new = self.insert_sums(state.into(), sums);
        self.states += u64::from(new);
        new
    }

    /// What `other` saw is seen too.
    pub(super) fn add(&mut self, other: Self) {
        if self.states == 0 {
            *self = other;
            return;
        }
        let small = other.situations.into_iter();
        let small = small.map(|(state, sums)| (state, sums.sums()));
        let others = other.others.into_iter();
        let others = others.flat_map(|(state, all)| all.into_iter().map(move |sums| (state, sums)));
        for (state, sums) in small.chain(others) {
            self.states += u64::from(self.insert_sums(state, sums));
        }
    }

    fn insert_sums(&mut self, state: Situation, sums: Sums) -> bool {
        let covers = |seen: &Sums| seen.0 >= sums.0 && seen.1 >= sums.1;
        let is_better = |seen: &Sums| seen.0 <= sums.0 && seen.1 <= sums.1;
        let small = SmallSums::of(sums);
        self.has_large |= small.is_none();
        // Sums that are not small are with the others, also where there is no first.
        if self.has_large && self.is_covered_by_others(state, covers) {
            return false;
        }
        match (self.situations.entry(state), small) {
            (Entry::Vacant(first), Some(small)) => {
                first.insert(small);
                return true;
            }
            (Entry::Occupied(first), _) if covers(&first.get().sums()) => return false,
            (Entry::Occupied(mut first), Some(small)) if is_better(&first.get().sums()) => {
                first.insert(small);
                return true;
            }
            _ => {}
        }
        let others = self.others.entry(state).or_default();
        if others.iter().any(covers) {
            return false;
        }
        others.retain(|seen| !is_better(seen));
        others.push(sums);
        true
    }

    fn is_covered_by_others(&self, state: Situation, covers: impl Fn(&Sums) -> bool) -> bool {
        let others = self.others.get(&state);
        others.is_some_and(|others| others.iter().any(covers))
    }

    /// How many states were seen.
    pub(crate) fn len(&self) -> u64 {
        self.states
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_new_unless_one_was_seen_that_is_no_better_whatever_the_size_of_its_sums() {
        let large = u64::from(u32::MAX) + 1;
        for unit in [1, large] {
            let mut visited = Visited::default();
            let state = Situation([7, 7]);
            let mut insert =
                |admitted, wasted| visited.insert_sums(state, (admitted * unit, wasted * unit));
            assert!(insert(2, 2));
            assert!(!insert(2, 2));
            assert!(!insert(1, 2));
            assert!(insert(3, 0), "more admitted");
            assert!(insert(0, 3), "more wasted");
            assert!(!insert(3, 0));
            assert!(!insert(0, 1));
            assert!(insert(3, 3));
            assert!(!insert(0, 3));
        }
        let mut visited = Visited::default();
        let state = Situation([7, 7]);
        assert!(visited.insert_sums(state, (large, large)));
        assert!(
            !visited.insert_sums(state, (1, 1)),
            "large sums cover small ones"
        );
        assert!(!visited.insert_sums(state, (1, 2)));
        assert!(
            visited.insert_sums(Situation([7, 8]), (1, 1)),
            "another state"
        );
    }
}
