//! The capacity of the store, counted exactly.

use crate::sync::{AtomicUsize, Padded, Relaxed};

/// How many budgets are stored, and how many may be.
///
/// A place is taken before an entry is added and given back after one was removed, so the count is
/// never below the number of entries, and never above the capacity. `Relaxed` is enough: the count
/// publishes nothing but itself, and every change is one read-modify-write.
#[derive(Debug)]
pub(crate) struct Places {
    taken: Padded<AtomicUsize>,
    capacity: usize,
}

impl Places {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            taken: Padded(AtomicUsize::new(0)),
            capacity,
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken.0.load(Relaxed)
    }

    /// A place, if one is free.
    pub(crate) fn take(&self) -> Option<Place<'_>> {
        let one_more = |taken| (taken < self.capacity).then_some(taken + 1);
        let taken = self.taken.0.fetch_update(Relaxed, Relaxed, one_more);
        taken.ok().map(|_| Place(self))
    }

    /// The place of one entry that was just removed, for the caller to use: nobody else can have
    /// taken it in between. The places of the other `freed` entries are given back.
    pub(crate) fn reuse(&self, freed: usize) -> Option<Place<'_>> {
        let others = freed.checked_sub(1)?;
        self.give_back(others);
        Some(Place(self))
    }

    /// Gives back the places of `freed` entries that were removed.
    pub(crate) fn give_back(&self, freed: usize) {
        if freed > 0 {
            self.taken.0.fetch_sub(freed, Relaxed);
        }
    }
}

/// The right to add one entry. Dropped unused, it is given back.
#[derive(Debug)]
pub(crate) struct Place<'a>(&'a Places);

impl Place<'_> {
    /// The entry was added.
    pub(crate) fn fill(self) {
        std::mem::forget(self);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}
