//! Around the Redis store: combined calls and remembered denials admit what it admits, and no more.

use limiter_sim::{Fault, Scenario};

use crate::support::{LOSSES, exhaust, scenario};

fn combined(workers: usize) -> Scenario {
    scenario("coalescing").workers(workers)
}

/// Workers, attempts, limit. Three and four workers share a process and its connection; six are two
/// such processes.
const SHARED: [(usize, u32, u64); 4] = [(3, 1, 1), (3, 1, 2), (4, 1, 2), (6, 1, 2)];

#[test]
fn combined_calls_admit_exactly_the_limit() {
    for (workers, attempts, limit) in SHARED {
        let sized = combined(workers);
        let found = exhaust(&sized.attempts(attempts).limit(limit));
        assert_eq!(found.max_admitted, limit, "{workers} {attempts} {limit}");
        assert!(!found.immortal && found.recovered);
    }
}

#[test]
fn combined_calls_admit_the_limit_once_per_loss() {
    for loss in LOSSES {
        let sized = combined(4).limit(1);
        let found = exhaust(&sized.fault(loss, 1));
        assert!(found.max_admitted <= 2, "{loss}: {found:?}");
        assert!(!found.immortal && found.recovered);
    }
    let lost = combined(4).limit(1);
    assert_eq!(exhaust(&lost.fault(Fault::Evict, 1)).max_admitted, 2);
}

#[test]
fn combined_calls_admit_the_limit_whatever_the_network_does() {
    for fault in [
        Fault::LostRequest,
        Fault::LostReply,
        Fault::LateReply,
        Fault::ScriptFlush,
    ] {
        let sized = combined(4).limit(2);
        let found = exhaust(&sized.fault(fault, 1));
        assert_eq!(found.max_admitted, 2, "{fault}");
    }
}

#[test]
fn remembered_denials_admit_the_limit_once_per_loss_also_over_the_end_of_a_window() {
    for (workers, attempts, limit) in [(2, 2, 1), (3, 2, 2)] {
        for loss in LOSSES {
            for times in 0..=1 {
                let sized = scenario("remembered-denials").workers(workers);
                let sized = sized.attempts(attempts).limit(limit).fault(loss, times);
                let alone = scenario("atomic-window").workers(workers);
                let alone = alone.attempts(attempts).limit(limit).fault(loss, times);
                let (found, alone) = (exhaust(&sized), exhaust(&alone));
                assert!(found.max_admitted <= alone.max_admitted, "{loss}");
                assert!(!found.immortal, "{loss}: {found:?}");
            }
        }
    }
    let sized = scenario("remembered-denials").workers(2).attempts(2);
    let found = exhaust(&sized.limit(1).time_steps(1));
    assert_eq!(
        (found.overspend, found.immortal, found.recovered),
        (0, false, true)
    );
}
