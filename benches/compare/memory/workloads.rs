//! Nanoseconds for each decision, under the same work.

use std::hint::black_box;
use std::thread;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Zipf};

use super::limiters::{
    Actix, GovernorAhash, GovernorString, GovernorU64, Limiter, Mailrs, Ours, OursByDyn,
    OursByTrait, RateNet,
};
use crate::goals::{Bound, Goal};
use crate::page::table;
use crate::rounds::{Contestant, Measured, measure};

const ROUNDS: usize = 7;
/// Decisions in one run.
const OPERATIONS: usize = 1 << 19;
const MANY: usize = 100_000;
const MILLION: usize = 1_000_000;
/// A limit that nobody reaches.
const GENEROUS: u32 = u32::MAX;

/// Which keys are asked for, in which order.
struct Work {
    name: &'static str,
    order: Vec<u32>,
    threads: usize,
    limit: u32,
}

impl Work {
    fn is_hot(&self) -> bool {
        self.order.iter().all(|key| *key == self.order[0])
    }
}

fn uniform(keys: usize) -> Vec<u32> {
    let mut random = SmallRng::seed_from_u64(1);
    let key = |_| random.random_range(0..u32::try_from(keys).expect("small"));
    (0..OPERATIONS).map(key).collect()
}

fn zipf(keys: usize) -> Vec<u32> {
    let mut random = SmallRng::seed_from_u64(2);
    let zipf = Zipf::new(keys as f64, 0.99).expect("a distribution");
    (0..OPERATIONS)
        .map(|_| zipf.sample(&mut random) as u32 - 1)
        .collect()
}

fn works() -> Vec<Work> {
    let work = |name, order, threads, limit| Work {
        name,
        order,
        threads,
        limit,
    };
    vec![
        work("one hot key", vec![0; OPERATIONS], 1, GENEROUS),
        work("one hot key, denied", vec![0; OPERATIONS], 1, 1),
        work("100 k keys, uniform", uniform(MANY), 1, GENEROUS),
        work("100 k keys, uniform, denied", uniform(MANY), 1, 1),
        work("100 k keys, Zipf 0.99", zipf(MANY), 1, GENEROUS),
        work("1 M keys, uniform", uniform(MILLION), 1, GENEROUS),
        work("1 M keys, Zipf 0.99", zipf(MILLION), 1, GENEROUS),
        work("one hot key, 2 threads", vec![0; OPERATIONS], 2, GENEROUS),
        work("100 k keys, uniform, 2 threads", uniform(MANY), 2, GENEROUS),
    ]
}

/// Identities of 15 bytes.
pub(super) fn texts(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("account-{number:07}"))
        .collect()
}

fn asked<K: Sync>(limiter: &impl Limiter<K>, keys: &[K], work: &Work) -> u64 {
    let part = work.order.len() / work.threads;
    let ask = |order: &[u32]| {
        for key in order {
            black_box(limiter.admits(&keys[*key as usize]));
        }
    };
    if work.threads == 1 {
        ask(&work.order);
    } else {
        thread::scope(|scope| {
            for order in work.order.chunks(part) {
                scope.spawn(move || ask(order));
            }
        });
    }
    work.order.len() as u64
}

fn contestant<'a, K: Sync>(
    name: &str,
    limiter: impl Limiter<K> + 'a,
    keys: &'a [K],
    work: &'a Work,
) -> Contestant<'a> {
    Contestant::new(name, move || asked(&limiter, keys, work))
}

fn with_texts(keys: &[String], work: &Work) -> Vec<Measured> {
    let limit = work.limit;
    let all = vec![
        contestant(OURS, Ours::new(limit, 0), keys, work),
        contestant("… by trait", OursByTrait(Ours::new(limit, 0)), keys, work),
        contestant("… by dyn", OursByDyn::new(limit, 0), keys, work),
        contestant(GOVERNOR, GovernorString::new(limit), keys, work),
        contestant("rate-net", RateNet::new(limit), keys, work),
        contestant("mailrs", Mailrs::new(limit), keys, work),
        contestant("actix-extensible", Actix::new(limit), keys, work),
    ];
    measure(all, ROUNDS)
}

fn with_numbers(keys: &[u64], work: &Work) -> Vec<Measured> {
    let limit = work.limit;
    let all = vec![
        contestant(OURS, Ours::new(limit, 0), keys, work),
        contestant("governor u64", GovernorU64::new(limit), keys, work),
        contestant(GOVERNOR_AHASH, GovernorAhash::new(limit), keys, work),
        contestant("rate-net", RateNet::new(limit), keys, work),
    ];
    measure(all, ROUNDS)
}

/// The first insertion of each of 500 k keys; who is asked is made anew in each round.
fn insertions(keys: &[String]) -> Vec<Measured> {
    fn inserted<'a, L: Limiter<String> + 'a>(
        name: &str,
        make: impl Fn() -> L + 'a,
        keys: &'a [String],
    ) -> Contestant<'a> {
        Contestant::new(name, move || {
            let limiter = make();
            for key in keys {
                black_box(limiter.admits(key));
            }
            keys.len() as u64
        })
    }
    let count = keys.len();
    let all = vec![
        inserted("limiter-memory, grown", || Ours::new(5, 0), keys),
        inserted(
            "limiter-memory, reserved",
            move || Ours::new(5, count),
            keys,
        ),
        inserted(GOVERNOR, || GovernorString::new(5), keys),
        inserted("rate-net", || RateNet::new(5), keys),
        inserted("mailrs", || Mailrs::new(5), keys),
        inserted("actix-extensible", || Actix::new(5), keys),
    ];
    measure(all, ROUNDS)
}

const OURS: &str = "limiter-memory";
const GOVERNOR: &str = "governor String";
const GOVERNOR_AHASH: &str = "governor u64 + ahash";

fn of<'a>(measured: &'a [Measured], name: &str) -> &'a Measured {
    let found = measured.iter().find(|one| one.name == name);
    found.expect("one of them")
}

fn rows(work: &str, measured: &[Measured], base: &str) -> Vec<Vec<String>> {
    let base = of(measured, base);
    let row = |one: &Measured| {
        vec![
            work.to_owned(),
            one.name.clone(),
            one.shown(),
            format!("{:.2}", one.ratio_to(base)),
        ]
    };
    measured.iter().map(row).collect()
}

/// What is aimed at where identities are text, through the concrete type.
fn goals_for_texts(work: &Work, measured: &[Measured]) -> Vec<Goal> {
    let ours = of(measured, OURS);
    let peers = measured
        .iter()
        .filter(|one| !one.name.starts_with(['l', '…']));
    let ratios = peers.map(|peer| ours.ratio_to(peer));
    let goal = |what, bound, measured| Goal {
        what,
        work: work.name.to_owned(),
        bound: Bound::AtMost(bound),
        measured,
    };
    let best = ratios.fold(0.0, f64::max);
    if work.threads > 1 {
        let bound = if work.is_hot() { 0.8 } else { 1.0 };
        return vec![goal("time, of the best peer", bound, best)];
    }
    let bound = if work.is_hot() { 0.6 } else { 0.75 };
    vec![
        goal(
            "time, of governor `String`",
            bound,
            ours.ratio_to(of(measured, GOVERNOR)),
        ),
        goal("time, of the best peer", 1.0, best),
    ]
}

fn goal_for_numbers(work: &Work, measured: &[Measured]) -> Goal {
    Goal {
        what: "time, of governor `u64` + ahash",
        work: work.name.to_owned(),
        bound: Bound::AtMost(1.3),
        measured: of(measured, OURS).ratio_to(of(measured, GOVERNOR_AHASH)),
    }
}

pub(super) fn section() -> (String, Vec<Goal>) {
    let texts = texts(MILLION);
    let numbers: Vec<u64> = (0..MILLION as u64).map(|number| number * 7919).collect();
    let (mut by_text, mut by_number) = (Vec::new(), Vec::new());
    let (mut goals, mut for_numbers) = (Vec::new(), Vec::new());
    for work in works() {
        eprintln!("memory: {}", work.name);
        let measured = with_texts(&texts, &work);
        by_text.extend(rows(work.name, &measured, GOVERNOR));
        goals.extend(goals_for_texts(&work, &measured));
        let measured = with_numbers(&numbers, &work);
        by_number.extend(rows(work.name, &measured, GOVERNOR_AHASH));
        for_numbers.push(goal_for_numbers(&work, &measured));
    }
    goals.extend(for_numbers);
    eprintln!("memory: insertions");
    let inserted = insertions(&texts[..500_000]);
    by_text.extend(rows("500 k new keys", &inserted, GOVERNOR));
    let head = |base| ["work", "limiter", "ns a decision", base];
    let section = format!(
        "## Identities of 15 bytes\n\n{}## Identities that are integers\n\n{}",
        table(&head("of governor `String`"), &by_text),
        table(&head("of governor `u64` + ahash"), &by_number),
    );
    (section, goals)
}
