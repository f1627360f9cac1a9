//! What the judges look at: admissions and what was given back of them, in the order in which the
//! store made them.

/// One change of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The instant at which the store made it, in milliseconds of reference time.
    pub at: u64,
    /// What it was.
    pub change: Change,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// So many units whose callers were told yes.
    Admitted(u64),
    /// So many units of what was admitted at this instant.
    GivenBack {
        /// How many.
        units: u64,
        /// When they were admitted.
        admitted_at: u64,
    },
}

impl Entry {
    /// Units admitted at an instant.
    pub const fn admitted(at: u64, units: u64) -> Self {
        let change = Change::Admitted(units);
        Self { at, change }
    }

    /// Units given back at an instant, of those that were admitted at another.
    pub const fn given_back(at: u64, units: u64, admitted_at: u64) -> Self {
        let change = Change::GivenBack { units, admitted_at };
        Self { at, change }
    }
}

/// What stands after each admission: units by the instant at which they were admitted, in order of
/// time, less those that had been given back by then. The last instant is that of the admission.
///
/// A refund counts from its own date: what was admitted before it was admitted beside what it gave
/// back. One that names no admission, or more than stands of it, gives nothing.
pub(super) fn standings(history: &[Entry]) -> impl Iterator<Item = Vec<(u64, u64)>> + '_ {
    let mut standing: Vec<(u64, u64)> = Vec::new();
    history.iter().filter_map(move |entry| match entry.change {
        Change::Admitted(units) => {
            match standing.last_mut() {
                Some((at, sum)) if *at == entry.at => *sum += units,
                _ => standing.push((entry.at, units)),
            }
            Some(standing.clone())
        }
        Change::GivenBack { units, admitted_at } => {
            let of = standing.iter_mut().find(|(at, _)| *at == admitted_at);
            if let Some((_, sum)) = of {
                *sum = sum.saturating_sub(units);
            }
            None
        }
    })
}

/// The most units that stood at once, if all of them count together.
pub(super) fn most_together(history: &[Entry]) -> u64 {
    let sums = standings(history).map(|standing| standing.iter().map(|(_, units)| units).sum());
    sums.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_counts_from_its_own_date() {
        let before = [
            Entry::admitted(0, 3),
            Entry::given_back(5, 2, 0),
            Entry::admitted(9, 1),
        ];
        let after = [before[0], before[2], Entry::given_back(9, 2, 0)];
        assert_eq!((most_together(&before), most_together(&after)), (3, 4));
    }

    #[test]
    fn more_than_stands_of_an_admission_is_not_given_back() {
        let twice = [
            Entry::admitted(0, 1),
            Entry::admitted(3, 2),
            Entry::given_back(4, 1, 0),
            Entry::given_back(4, 1, 0),
            Entry::given_back(4, 1, 1),
            Entry::admitted(5, 1),
        ];
        assert_eq!(most_together(&twice), 3);
    }
}
