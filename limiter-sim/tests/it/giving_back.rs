//! Counters that give back what was too much.

use limiter_sim::Fault;

use crate::support::{exhaust, scenario};

const STORES: [&str; 2] = ["increment-then-expire", "set-nx-then-increment"];

/// Workers, attempts, limit, losses.
type Size = (usize, u32, u64, u32);

/// A denied call of these stores is two commands: an `INCR` that went above the limit and a `DECR`
/// that takes it back. Where the key is lost between them, the `DECR` finds no counter and makes one
/// at −1, and that is one unit of credit that nobody owed. So with W workers of A attempts, limit L
/// and f losses of the key alone, B = (1 + f)·L is not the most: if k denied calls straddle a loss,
/// B + k units can be admitted, but the k calls themselves were denied, so no more than W·A − k. A
/// worker has one call under way at a time, so k is at most W for each loss. The most is therefore
/// the largest min(B + k, W·A − k) over k = 0 … f·W, which is min(W·A, B) where W·A ≤ B, and else
/// B + min(f·W, ⌊(W·A − B) / 2⌋): 13 for 16 workers, limit 5 and one eviction. A loss that breaks
/// connections (a restart, a promotion) lets no `DECR` through that was under way, so there B holds.
///
/// A counter that a `DECR` made has no deadline until somebody sets one. `PEXPIRE` at a reply of 1
/// does; `SET NX` does not touch what exists. So for set-nx-then-increment a clock that jumps can
/// lose the key once more only if a `SET` came before the first `DECR`, by a worker that does not
/// straddle: of f jumps all but the last let one worker less straddle.
fn worst((workers, attempts, limit, losses): Size, store: &str, loss: Fault) -> u64 {
    let (workers, losses) = (workers as u64, u64::from(losses));
    let calls = workers * u64::from(attempts);
    let bound = (1 + losses) * limit;
    let needs_deadline = store == "set-nx-then-increment" && loss == Fault::ClockJump;
    let setters = if needs_deadline {
        losses.saturating_sub(1)
    } else {
        0
    };
    let straddling = workers * losses - setters;
    match calls.checked_sub(bound) {
        None => calls,
        Some(spare) => bound + straddling.min(spare / 2),
    }
}

const SIZES: [Size; 19] = [
    (2, 1, 1, 1),
    (3, 1, 1, 0),
    (4, 1, 1, 1),
    (5, 1, 1, 1),
    (5, 1, 1, 2),
    (6, 1, 1, 1),
    (7, 1, 2, 1),
    (8, 1, 2, 1),
    (7, 1, 1, 2),
    (2, 2, 1, 1),
    (2, 2, 1, 2),
    (2, 3, 1, 2),
    (3, 2, 2, 1),
    (1, 7, 1, 1),
    (2, 5, 1, 1),
    (1, 9, 1, 2),
    (1, 9, 2, 2),
    (1, 12, 1, 3),
    (2, 6, 1, 2),
];

#[test]
fn a_lost_key_makes_credit_of_each_unit_that_is_on_its_way_back() {
    assert_eq!(worst((16, 1, 5, 1), STORES[0], Fault::Evict), 13);
    for size in SIZES {
        let (workers, attempts, limit, losses) = size;
        for store in STORES {
            for loss in [Fault::Evict, Fault::ClockJump] {
                let scenario = scenario(store)
                    .workers(workers)
                    .attempts(attempts)
                    .limit(limit);
                let found = exhaust(&scenario.fault(loss, losses)).max_admitted;
                assert_eq!(found, worst(size, store, loss), "{store} {size:?} {loss}");
            }
        }
    }
}

#[test]
fn a_loss_that_breaks_connections_makes_no_credit() {
    for (workers, limit, losses) in [(4, 1, 1), (5, 1, 1), (5, 1, 2), (6, 2, 1)] {
        for store in STORES {
            for loss in [Fault::Restart, Fault::Failover] {
                let scenario = scenario(store).workers(workers).limit(limit);
                let found = exhaust(&scenario.fault(loss, losses)).max_admitted;
                let bound = (1 + u64::from(losses)) * limit;
                assert_eq!(
                    found,
                    bound.min(workers as u64),
                    "{store}, {losses} × {loss}"
                );
            }
        }
    }
}

#[test]
fn without_a_loss_giving_back_keeps_the_limit() {
    for store in STORES {
        let found = exhaust(&scenario(store).workers(6).attempts(2).limit(2)).max_admitted;
        assert_eq!(found, 2, "{store}");
    }
}
