//! What a decision costs the server: its own count and time of commands.

use std::collections::BTreeMap;

use super::Bench;
use super::workloads::{Heavy, Keys, Work, everyone};
use crate::page::table;

const ROUNDS: usize = 5;

/// What a server did: by the command's name, calls, and microseconds in them.
pub(super) struct Statistics(BTreeMap<String, (f64, f64)>);

impl Statistics {
    /// `cmdstat_get:calls=3,usec=5,…`, a line for each command.
    fn parsed(info: &str) -> Self {
        let command = |line: &str| {
            let (name, fields) = line.strip_prefix("cmdstat_")?.split_once(':')?;
            let field = |wanted: &str| {
                let mut fields = fields.split(',').filter_map(|field| field.split_once('='));
                let (_, value) = fields.find(|(name, _)| *name == wanted)?;
                value.parse::<f64>().ok()
            };
            Some((name.to_owned(), (field("calls")?, field("usec")?)))
        };
        Self(info.lines().filter_map(command).collect())
    }

    /// The number of scripts.
    pub(super) fn scripts(&self) -> f64 {
        self.sum_of_scripts(|(calls, _)| calls)
    }

    fn sum_of_scripts(&self, what: impl Fn((f64, f64)) -> f64) -> f64 {
        let scripts = ["evalsha", "eval"];
        let known = scripts.iter().filter_map(|name| self.0.get(*name));
        known.fold(0.0, |sum, command| sum + what(*command))
    }

    /// Microseconds inside of scripts, or of all commands where there are none.
    fn microseconds(&self) -> f64 {
        if self.scripts() > 0.0 {
            return self.sum_of_scripts(|(_, microseconds)| microseconds);
        }
        // EXEC's time is that of the commands that it executes.
        let others = self.commands().filter(|(name, _)| *name != "exec");
        others.map(|(_, (_, microseconds))| microseconds).sum()
    }

    /// All but the scripts, and what counting itself sends.
    fn commands(&self) -> impl Iterator<Item = (&str, (f64, f64))> {
        let outside = |name: &str| {
            ["eval", "config", "info"]
                .iter()
                .any(|it| name.starts_with(it))
        };
        let all = self.0.iter().filter(move |(name, _)| !outside(name));
        all.map(|(name, command)| (name.as_str(), *command))
    }
}

/// What `run` made the server do.
pub(super) fn counted(bench: &Bench, run: impl Fn() -> u64) -> Statistics {
    let mut admin = bench.server.admin();
    let reset: redis::RedisResult<()> = redis::cmd("CONFIG").arg("RESETSTAT").query(&mut admin);
    reset.expect("CONFIG RESETSTAT");
    run();
    let info = redis::cmd("INFO").arg("commandstats").query(&mut admin);
    let info: String = info.expect("INFO");
    Statistics::parsed(&info)
}

/// What each of `rounds` says; the counts are about the same in all, and the time is their median.
fn row(work: Work, name: &str, rounds: &[Statistics]) -> Vec<String> {
    let decisions = work.order().len() as f64;
    let statistics = &rounds[0];
    let sum: f64 = statistics.commands().map(|(_, (calls, _))| calls).sum();
    let each: Vec<String> = statistics
        .commands()
        .filter(|(_, (calls, _))| calls / decisions >= 0.005)
        .map(|(name, (calls, _))| format!("{} {:.2}", name.to_uppercase(), calls / decisions))
        .collect();
    let mut microseconds: Vec<f64> = rounds.iter().map(Statistics::microseconds).collect();
    microseconds.sort_by(f64::total_cmp);
    vec![
        work.to_string(),
        name.to_owned(),
        format!("{:.2}", statistics.scripts() / decisions),
        format!("{:.2}", sum / decisions),
        each.join(", "),
        format!("{:.2}", microseconds[rounds.len() / 2] / decisions),
    ]
}

pub(super) fn section(bench: &Bench) -> String {
    let works = [
        (Keys::OneHot, Heavy::Admitted),
        (Keys::OneHot, Heavy::Denied),
        (Keys::Many, Heavy::Admitted),
        (Keys::Many, Heavy::Denied),
    ];
    let mut rows = Vec::new();
    for (keys, heavy) in works {
        let work = Work {
            callers: 512,
            keys,
            heavy,
        };
        eprintln!("redis: commands, {work}");
        bench.clear();
        let everyone = everyone(bench, work);
        // The windows open before anything is counted.
        everyone.iter().for_each(|(_, run)| {
            run();
        });
        let mut counts: Vec<Vec<Statistics>> = everyone.iter().map(|_| Vec::new()).collect();
        for _ in 0..ROUNDS {
            for ((_, run), counts) in everyone.iter().zip(&mut counts) {
                counts.push(counted(bench, run));
            }
        }
        let counted = everyone.iter().zip(&counts);
        rows.extend(counted.map(|((name, _), counts)| row(work, name, counts)));
    }
    let head = [
        "work",
        "limiter",
        "scripts a decision",
        "commands a decision",
        "of which",
        "server µs a decision",
    ];
    format!(
        "## What the server does\n\nBy `INFO commandstats`, in windows that are open. The commands of a script are \
         its `redis.call`s. The time is that inside of scripts, or of commands where there are none: reading \
         the request and writing the reply come on top, once for each.\n\n{}",
        table(&head, &rows)
    )
}
