//! Bytes for each budget.

use super::limiters::{Actix, GovernorAhash, GovernorString, Limiter, Mailrs, Ours, RateNet};
use super::workloads::texts;
use crate::goals::{Bound, Goal};
use crate::page::table;

const COUNTS: [usize; 3] = [900_000, 1_000_000, 1_800_000];

/// Bytes that a limiter holds for each of `keys`, after each was asked for once.
fn bytes_each<K, L: Limiter<K>>(make: impl FnOnce() -> L, keys: &[K]) -> f64 {
    let mut limiter = None;
    let allocated = allocation_counter::measure(|| {
        let made = make();
        for key in keys {
            made.admits(key);
        }
        limiter = Some(made);
    });
    allocated.bytes_current as f64 / keys.len() as f64
}

pub(super) fn section() -> (String, Vec<Goal>) {
    eprintln!("memory: bytes");
    let (texts, numbers) = (texts(1_800_000), (0..1_800_000).collect::<Vec<u64>>());
    let (mut rows, mut goals) = (Vec::new(), Vec::new());
    for count in COUNTS {
        let (texts, numbers) = (&texts[..count], &numbers[..count]);
        let held = [
            (
                "limiter-memory, 15 bytes",
                bytes_each(|| Ours::new(5, 0), texts),
            ),
            (
                "limiter-memory, 15 bytes, reserved",
                bytes_each(|| Ours::new(5, count), texts),
            ),
            (
                "governor `String`, 15 bytes",
                bytes_each(|| GovernorString::new(5), texts),
            ),
            ("rate-net, 15 bytes", bytes_each(|| RateNet::new(5), texts)),
            ("mailrs, 15 bytes", bytes_each(|| Mailrs::new(5), texts)),
            (
                "actix-extensible, 15 bytes",
                bytes_each(|| Actix::new(5), texts),
            ),
            (
                "limiter-memory, integers",
                bytes_each(|| Ours::new(5, 0), numbers),
            ),
            (
                "governor `u64` + ahash",
                bytes_each(|| GovernorAhash::new(5), numbers),
            ),
        ];
        let base = held[2].1;
        goals.push(Goal {
            what: "bytes, of governor `String`",
            work: format!("{count} budgets"),
            bound: Bound::AtMost(1.0),
            measured: held[0].1 / base,
        });
        rows.extend(held.map(|(name, bytes)| {
            vec![
                count.to_string(),
                name.to_owned(),
                format!("{bytes:.0}"),
                format!("{:.2}", bytes / base),
            ]
        }));
    }
    let head = [
        "budgets",
        "limiter",
        "bytes a budget",
        "of governor `String`",
    ];
    let section = format!("## Bytes a budget\n\n{}", table(&head, &rows));
    (section, goals)
}
