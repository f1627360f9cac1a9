//! The server's own limit, by the server's own benchmark.

use std::process::{Command, Stdio};

use super::Bench;
use super::raw;
use crate::page::table;
use crate::rounds::{Contestant, Measured, measure};

const ROUNDS: usize = 5;

/// Requests that are sent together, by each of so many connections.
const PIPELINED: u32 = 64;
const CONNECTIONS: u32 = 8;

/// Budgets that one script decides on, where it decides on many.
const BATCH: usize = 64;

struct Case {
    name: String,
    requests: u64,
    /// Decisions in each of them.
    decisions: u64,
    command: Vec<String>,
}

fn run(bench: &Bench, case: &Case) -> u64 {
    let program = bench.server.program().path();
    let mut benchmark = Command::new(program.with_file_name("redis-benchmark"));
    benchmark
        .arg("-s")
        .arg(bench.server.socket())
        .args(["-q", "-c", &CONNECTIONS.to_string()])
        .args(["-P", &PIPELINED.to_string()])
        .args(["-n", &case.requests.to_string()])
        .args(&case.command)
        .stdout(Stdio::null());
    let status = benchmark.status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "redis-benchmark, which is installed with the server, fails"
    );
    case.requests * case.decisions
}

/// A script that is sent again and again.
fn script(bench: &Bench, name: &str, text: &str, keys: &[String], arguments: &[&str]) -> Case {
    let digest = raw::load(bench, text);
    let mut command = vec!["EVALSHA".to_owned(), digest, keys.len().to_string()];
    command.extend_from_slice(keys);
    command.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    // redis-benchmark takes an error for a reply.
    let mut once = redis::Cmd::new();
    once.arg(&command);
    let ran: redis::RedisResult<redis::Value> = once.query(&mut bench.server.admin());
    ran.unwrap_or_else(|why| panic!("{name}: {why}"));
    let decisions = keys.len() as u64;
    Case {
        name: name.to_owned(),
        requests: 100_000 / decisions,
        decisions,
        command,
    }
}

const NEVER: &str = "1000000000";
const LENGTH_MS: &str = "1024000";

/// Scripts that decide one charge, all for the same key.
fn singles(bench: &Bench) -> Vec<Case> {
    let one = |name: &str, text, arguments: &[&str]| {
        script(bench, name, text, &[name.to_owned()], arguments)
    };
    let ours = limiter_redis::scripts::ACQUIRE_FIRST_ARRIVAL;
    vec![
        Case {
            name: "INCR, no script".to_owned(),
            requests: 500_000,
            decisions: 1,
            command: vec!["INCR".to_owned(), "number".to_owned()],
        },
        one("an empty script", "return 1", &[NEVER, LENGTH_MS]),
        one("raw, admitted", raw::LEAST, &[NEVER, LENGTH_MS]),
        one("raw, telling, admitted", raw::TELLING, &[NEVER, LENGTH_MS]),
        one("`RedisStore`, admitted", ours, &[NEVER, "1", LENGTH_MS]),
        one("raw, denied", raw::LEAST, &["1", LENGTH_MS]),
        one("raw, telling, denied", raw::TELLING, &["1", LENGTH_MS]),
        one("`RedisStore`, denied", ours, &["1", "1", LENGTH_MS]),
    ]
}

/// Scripts that decide on many budgets, each with one charge.
fn batches(bench: &Bench) -> Vec<Case> {
    let many = |name: &str, text, arguments: &[&str]| {
        let keys: Vec<String> = (0..BATCH)
            .map(|number| format!("{name} {number}"))
            .collect();
        script(bench, name, text, &keys, arguments)
    };
    // The commands of the batch script, and nothing else of it.
    let read = "local counts = redis.call('MGET', unpack(KEYS)) ";
    let look = "for i = 1, #KEYS do redis.call('PTTL', KEYS[i]) end ";
    let write = "for i = 1, #KEYS do redis.call('INCRBY', KEYS[i], 1) end ";
    let ours = limiter_redis::scripts::ACQUIRE_BATCH;
    let all = BATCH.to_string();
    vec![
        many("MGET", &format!("{read} return counts"), &[]),
        many("MGET, PTTL", &format!("{read} {look} return counts"), &[]),
        many(
            "MGET, PTTL, INCRBY",
            &format!("{read} {look} {write} return counts"),
            &[],
        ),
        many(
            "`CoalescingStore`, admitted",
            ours,
            &[&all, LENGTH_MS, "1", NEVER, "1", "1"],
        ),
        many(
            "`CoalescingStore`, denied",
            ours,
            &[&all, LENGTH_MS, "1", "1", "1", "1"],
        ),
    ]
}

fn measured(bench: &Bench, cases: &[Case]) -> String {
    let contestants = cases
        .iter()
        .map(|case| Contestant::new(&case.name, || run(bench, case)));
    let measured = measure(contestants.collect(), ROUNDS);
    let row = |one: &Measured| {
        let (time, rate) = (one.shown(), format!("{:.0}", one.per_second()));
        vec![one.name.clone(), time, rate]
    };
    let rows: Vec<Vec<String>> = measured.iter().map(row).collect();
    table(&["request", "ns a decision", "decisions a second"], &rows)
}

pub(super) fn section(bench: &Bench) -> String {
    bench.clear();
    eprintln!("redis: redis-benchmark");
    let singles = measured(bench, &singles(bench));
    let batches = measured(bench, &batches(bench));
    format!(
        "## The server's own limit\n\n`redis-benchmark` sends one request again and again, over {CONNECTIONS} \
         connections, {PIPELINED} at a time; its start is in the times. So this is what each script costs the server with \
         its request and its reply, and no client that makes decisions of them.\n\nOne charge, for one hot \
         key:\n\n{singles}{BATCH} charges in one script, each for another key:\n\n{batches}"
    )
}
