//! The worst that a search finds is the bound that theory states, wherever workers × attempts
//! reaches it: no more, and no less.
//!
//! A loss of state is one that nothing survives: an eviction, a restart without persistence, the
//! promotion of a replica that received nothing, a clock set past the window's end. Each gives the
//! whole limit once more.

use limiter_sim::{Fault, Scenario};

use crate::support::{LOSSES, exhaust, scenario};

/// Workers, attempts, limit.
type Size = (usize, u32, u64);

const SIZES: [Size; 6] = [
    (2, 1, 1),
    (4, 1, 1),
    (4, 1, 2),
    (2, 2, 1),
    (2, 3, 1),
    (3, 2, 2),
];

fn sized(store: &str, (workers, attempts, limit): Size) -> Scenario {
    scenario(store)
        .workers(workers)
        .attempts(attempts)
        .limit(limit)
}

/// Whether a loss leaves enough attempts to reach a bound. A restart and a promotion break every
/// open connection, and the next attempt of a worker that had one is lost to the one error that it
/// is told; a worker with a single attempt has no next one.
fn is_reached((workers, attempts, _): Size, loss: Fault, times: u32, bound: u64) -> bool {
    let breaks = matches!(loss, Fault::Restart | Fault::Failover) && attempts > 1;
    let lost = if breaks {
        workers as u64 * u64::from(times)
    } else {
        0
    };
    lost == 0 || workers as u64 * u64::from(attempts) >= bound + lost
}

/// Checks a store at every size with no, one and two losses of every kind. `bound` is what theory
/// says for a size and a number of losses, if attempts do not run out.
fn is_exact(store: &str, losses: &[Fault], bound: impl Fn(Size, u64) -> u64) {
    let mut checked = 0;
    for size in SIZES {
        for (loss, times) in losses
            .iter()
            .flat_map(|loss| (0..=2).map(move |times| (*loss, times)))
        {
            let bound = bound(size, u64::from(times));
            if !is_reached(size, loss, times, bound) {
                continue;
            }
            let found = exhaust(&sized(store, size).fault(loss, times)).max_admitted;
            let attempts = size.0 as u64 * u64::from(size.1);
            assert_eq!(
                found,
                bound.min(attempts),
                "{store} {size:?}, {times} × {loss}"
            );
            checked += 1;
        }
    }
    assert!(checked >= losses.len() * 14, "only {checked} were checked");
}

/// The whole limit once, and once more for each loss.
fn limit_per_loss((_, _, limit): Size, losses: u64) -> u64 {
    (1 + losses) * limit
}

#[test]
fn one_script_admits_the_limit_once_per_loss() {
    is_exact("atomic-window", &LOSSES, limit_per_loss);
}

#[test]
fn an_optimistic_transaction_admits_the_limit_once_per_loss() {
    is_exact("watch-multi", &LOSSES, limit_per_loss);
}

#[test]
fn spending_denials_admit_the_limit_once_per_loss() {
    is_exact("increment-then-expire-spending", &LOSSES, limit_per_loss);
}

#[test]
fn refusing_on_errors_admits_the_limit_once_per_loss() {
    is_exact("fail-closed", &LOSSES, limit_per_loss);
}

#[test]
fn check_and_update_admit_all_who_looked_before_the_last_unit_was_charged() {
    is_exact("split", &LOSSES, |(workers, _, limit), losses| {
        (1 + losses) * (limit + workers as u64 - 1)
    });
}

#[test]
fn admitting_on_errors_admits_one_more_for_each_error_told() {
    // Losing a key tells nobody an error; breaking connections tells each worker one.
    is_exact(
        "fail-open",
        &[Fault::Evict, Fault::ClockJump],
        limit_per_loss,
    );
    is_exact(
        "fail-open",
        &[Fault::LostRequest, Fault::LostReply],
        |(_, _, limit), errors| limit + errors,
    );
    for size in SIZES {
        for (loss, times) in [
            (Fault::Restart, 1),
            (Fault::Failover, 1),
            (Fault::Restart, 2),
        ] {
            let (workers, attempts) = (size.0 as u64, u64::from(size.1));
            let bound = limit_per_loss(size, times) + times * workers;
            let times = u32::try_from(times).expect("two at most");
            let found = exhaust(&sized("fail-open", size).fault(loss, times)).max_admitted;
            assert_eq!(
                found,
                bound.min(workers * attempts),
                "{size:?}, {times} × {loss}"
            );
        }
    }
}

#[test]
fn memory_in_each_worker_admits_the_limit_in_each() {
    for (workers, attempts, limit) in [(2, 1, 1), (3, 2, 2), (2, 3, 2), (3, 2, 5)] {
        let size = (workers, attempts, limit);
        let found = exhaust(&sized("memory-per-worker", size)).max_admitted;
        assert_eq!(
            found,
            workers as u64 * limit.min(u64::from(attempts)),
            "{size:?}"
        );
    }
}

#[test]
fn memory_in_each_worker_admits_the_limit_once_more_where_one_begins_anew() {
    for (times, worst) in [(0, 2), (1, 3), (2, 4), (3, 5)] {
        let size = (2, 3, 1);
        let found = exhaust(&sized("memory-per-worker", size).fault(Fault::Restart, times));
        assert_eq!(found.max_admitted, worst, "{times} restarts");
    }
}

#[test]
fn shares_of_the_limit_admit_the_limit_together() {
    for (workers, attempts, limit) in [(2, 1, 1), (3, 2, 5), (2, 3, 5), (4, 2, 8)] {
        let size = (workers, attempts, limit);
        let found = exhaust(&sized("memory-partitioned", size)).max_admitted;
        assert_eq!(found, limit, "{size:?}");
    }
}

#[test]
fn a_clock_set_back_gives_no_credit() {
    // The only jumps of a budget without a key that has a deadline go nowhere; with one, back.
    let found = exhaust(&sized("atomic-window", (4, 1, 1)).fault(Fault::ClockJump, 1));
    assert_eq!(found.max_admitted, 2, "forward is a loss, back is none");
}

#[test]
fn costs_above_one_fill_the_limit_in_whole_calls() {
    for store in [
        "atomic-window",
        "watch-multi",
        "increment-then-expire-spending",
    ] {
        for times in 0..=1 {
            let found = exhaust(
                &scenario(store)
                    .workers(5)
                    .limit(5)
                    .cost(2)
                    .fault(Fault::Evict, times),
            );
            assert_eq!(found.max_admitted, 4 * (1 + u64::from(times)), "{store}");
        }
    }
}
