//! Decisions under the same load, and what was admitted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use super::Bench;
use super::limiters::{Ours, Trypema, coalescing, connect, plain};
use super::load::{Limiter, ask};
use super::peers;
use super::raw::{self, Raw};
use crate::page::table;
use crate::rounds::{Contestant, Measured, measure};

const ROUNDS: usize = 7;
pub(super) const RAW: &str = "raw EVALSHA";
pub(super) const PLAIN: &str = "RedisStore";
pub(super) const COALESCING: &str = "CoalescingStore";

/// Which accounts are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    OneHot,
    Many,
}

/// What most answers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heavy {
    Admitted,
    Denied,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) callers: usize,
    pub(super) keys: Keys,
    pub(super) heavy: Heavy,
}

impl Work {
    fn all() -> impl Iterator<Item = Self> {
        [1, 64, 512].into_iter().flat_map(|callers| {
            [Keys::OneHot, Keys::Many]
                .into_iter()
                .flat_map(move |keys| {
                    [Heavy::Admitted, Heavy::Denied].map(|heavy| Self {
                        callers,
                        keys,
                        heavy,
                    })
                })
        })
    }

    /// The number of accounts.
    fn accounts(self) -> u32 {
        match self.keys {
            Keys::OneHot => 1,
            Keys::Many => 10_000,
        }
    }

    /// One that nobody reaches, or one that the first round uses up.
    pub(super) fn limit(self) -> u32 {
        match (self.heavy, self.keys) {
            (Heavy::Admitted, _) => 1_000_000_000,
            (Heavy::Denied, Keys::OneHot) => 100,
            (Heavy::Denied, Keys::Many) => 1,
        }
    }

    pub(super) fn account_names(self) -> Vec<Arc<str>> {
        let names = 0..self.accounts();
        names
            .map(|number| format!("account-{number:07}").into())
            .collect()
    }

    /// Which account each decision of one run is for: each in turn where there are many, so that a run has
    /// every one of them, and then whichever.
    pub(super) fn places(self) -> Vec<usize> {
        let count = match (self.callers, self.keys) {
            (1, Keys::OneHot) => 3_000,
            (1, Keys::Many) => 10_000,
            _ => 15_000,
        };
        let mut random = SmallRng::seed_from_u64(3);
        let accounts = self.accounts() as usize;
        let account = |place| match place < accounts {
            true => place,
            false => random.random_range(0..accounts),
        };
        (0..count).map(account).collect()
    }

    /// The accounts of one run, in their order.
    pub(super) fn order(self) -> Arc<[Arc<str>]> {
        let accounts = self.account_names();
        let places = self.places().into_iter();
        places.map(|place| Arc::clone(&accounts[place])).collect()
    }

    /// The most that may be admitted when `asked` were.
    fn allowed(self, asked: u64) -> u64 {
        let distinct = u64::from(self.accounts()).min(self.order().len() as u64);
        asked.min(distinct * u64::from(self.limit()))
    }
}

impl std::fmt::Display for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let callers = match self.callers {
            1 => "1 caller".to_owned(),
            many => format!("{many} callers"),
        };
        let keys = match self.keys {
            Keys::OneHot => "one hot key",
            Keys::Many => "10,000 keys",
        };
        let heavy = match self.heavy {
            Heavy::Admitted => "admitted",
            Heavy::Denied => "denied",
        };
        write!(f, "{callers}, {keys}, {heavy}")
    }
}

/// What came of a work: the limiters in their order, and how many each admitted.
pub(super) struct Outcome {
    pub(super) work: Work,
    measured: Vec<Measured>,
    admitted: Vec<u64>,
}

impl Outcome {
    pub(super) fn of(&self, name: &str) -> &Measured {
        let found = self.measured.iter().find(|one| one.name == name);
        found.expect("one of them")
    }
}

/// A name, and what lets the callers ask and says how many were admitted.
pub(super) type Asked<'a> = (&'static str, Box<dyn Fn() -> u64 + 'a>);

/// All who are compared, asked as `work` says.
pub(super) fn everyone<'a>(bench: &'a Bench, work: Work) -> Vec<Asked<'a>> {
    fn asked<'a>(
        bench: &'a Bench,
        work: Work,
        name: &'static str,
        limiter: impl Limiter,
    ) -> Asked<'a> {
        let (limiter, order) = (Arc::new(limiter), work.order());
        let run = move || ask(&bench.runtime, &limiter, &order, work.callers);
        (name, Box::new(run))
    }
    let limit = work.limit();
    let shared = connect(bench);
    let raw = |prefix, script| Raw {
        connection: shared.clone(),
        digest: raw::load(bench, script),
        prefix,
        limit,
    };
    let least = raw("least:", raw::LEAST);
    let telling = raw("telling:", raw::TELLING);
    let single = Ours::new(plain(shared.clone(), "plain:"), limit);
    let combined = Ours::new(coalescing(bench, shared.clone()), limit);
    let mut everyone = vec![
        asked(bench, work, RAW, least),
        asked(bench, work, "raw EVALSHA, telling", telling),
        asked(bench, work, PLAIN, single),
        asked(bench, work, COALESCING, combined),
        asked(bench, work, "trypema", Trypema::new(bench, limit)),
    ];
    if let Some(peers) = &bench.peers {
        everyone.extend(peers::NAMES.map(|name| {
            let peer = peers.start(name, work);
            let run: Box<dyn Fn() -> u64> = Box::new(move || peer.run());
            (name, run)
        }));
    }
    everyone
}

fn outcome(bench: &Bench, work: Work) -> Outcome {
    bench.clear();
    let asked = work.order().len() as u64;
    let everyone = everyone(bench, work);
    let admitted: Vec<AtomicU64> = everyone.iter().map(|_| AtomicU64::new(0)).collect();
    let contestants = everyone.iter().zip(&admitted);
    let contestants = contestants.map(|((name, run), admitted)| {
        Contestant::new(*name, move || {
            admitted.fetch_add(run(), Ordering::Relaxed);
            asked
        })
    });
    let measured = measure(contestants.collect(), ROUNDS);
    let admitted = admitted.into_iter().map(AtomicU64::into_inner);
    Outcome {
        work,
        measured,
        admitted: admitted.collect(),
    }
}

pub(super) fn measure_all(bench: &Bench) -> Vec<Outcome> {
    let measured = Work::all().map(|work| {
        eprintln!("redis: {work}");
        outcome(bench, work)
    });
    measured.collect()
}

fn rows(outcome: &Outcome) -> Vec<Vec<String>> {
    let (raw, plain) = (outcome.of(RAW), outcome.of(PLAIN));
    // The round that does not count is asked for too.
    let asked = outcome.work.order().len() as u64 * (ROUNDS as u64 + 1);
    let allowed = outcome.work.allowed(asked);
    let row = |(one, admitted): (&Measured, &u64)| {
        vec![
            outcome.work.to_string(),
            one.name.clone(),
            one.shown(),
            format!("{:.0}", one.per_second()),
            format!("{:.2}", raw.ratio_to(one)),
            format!("{:.2}", plain.ratio_to(one)),
            format!("{admitted} of {allowed}"),
        ]
    };
    let measured = outcome.measured.iter();
    measured.zip(&outcome.admitted).map(row).collect()
}

pub(super) fn section(outcomes: &[Outcome]) -> String {
    let rows: Vec<Vec<String>> = outcomes.iter().flat_map(rows).collect();
    let head = [
        "work",
        "limiter",
        "ns a decision",
        "decisions a second",
        "speed, of raw",
        "speed, of `RedisStore`",
        "admitted, of what may be",
    ];
    format!(
        "## Decisions\n\nWhere most is denied the limit is 100 for the hot key and 1 for each of many, in a window that \
         outlasts the benchmark. Who admits more than may be does not keep the limit among concurrent callers. Ratios are medians of what each round says.\n\n{}",
        table(&head, &rows)
    )
}
