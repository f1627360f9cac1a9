//! Leases: at most `limit` of them last at once.

use super::history::{Change, Entry};

/// Permits that were taken together.
struct Lease {
    from: u64,
    last: u64,
    permits: u64,
}

/// The most permits in leases that lasted at once.
///
/// A lease lasts from the instant at which it was granted to `lease_ms` later, both included, unless
/// it is released: then up to the release, which is dated by the store. It counts in the instant of
/// its release for those who came before it, and no more for those who come after. Leases only end
/// by themselves, so they are most at an instant at which one is granted.
pub fn in_flight(history: &[Entry], lease_ms: u64) -> u64 {
    let mut leases: Vec<Lease> = Vec::new();
    let mut most = 0;
    for entry in history {
        leases.retain(|lease| lease.last >= entry.at);
        match entry.change {
            Change::Admitted(permits) => leases.push(Lease {
                from: entry.at,
                last: entry.at + lease_ms,
                permits,
            }),
            Change::GivenBack { units, admitted_at } => release(&mut leases, units, admitted_at),
        }
        most = most.max(leases.iter().map(|lease| lease.permits).sum());
    }
    most
}

/// Several leases can have been granted in one millisecond; they last equally long, so it does not
/// matter which of them is released.
fn release(leases: &mut [Lease], mut permits: u64, from: u64) {
    for lease in leases.iter_mut().filter(|lease| lease.from == from) {
        let released = permits.min(lease.permits);
        lease.permits -= released;
        permits -= released;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_counts_up_to_its_last_instant() {
        let taken = |at| [Entry::admitted(0, 2), Entry::admitted(at, 1)];
        assert_eq!(in_flight(&taken(1000), 1000), 3);
        assert_eq!(in_flight(&taken(1001), 1000), 2);
    }

    #[test]
    fn a_released_lease_gives_its_place_away_at_once_and_not_before() {
        let grant = |at| Entry::admitted(at, 1);
        let release = Entry::given_back(5, 1, 0);
        assert_eq!(in_flight(&[grant(0), release, grant(5)], 1000), 1);
        assert_eq!(in_flight(&[grant(0), grant(5), release], 1000), 2);
    }

    #[test]
    fn a_release_of_a_lease_that_has_ended_frees_no_other() {
        let history = [
            Entry::admitted(0, 1),
            Entry::admitted(2000, 1),
            Entry::given_back(2001, 1, 0),
            Entry::admitted(2001, 1),
        ];
        assert_eq!(in_flight(&history, 1000), 2);
    }
}
