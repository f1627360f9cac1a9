//! Lets callers ask limitador or axum-limit, as the benchmarks say on standard input.
//!
//! The first argument is the URL of the server. Each line is a [`Request`]; each is answered with one line
//! as soon as it is done. So the time is taken by the benchmarks, with the same clock as for all others.

// Limiters ask the clock, and this is no part of the project that could be given one.
#![allow(clippy::disallowed_methods)]

use std::io::{BufRead, Write, stdin, stdout};
use std::sync::Arc;

use serde::Deserialize;
use tokio::runtime::Runtime;

mod axum_limit;
mod limitador;
#[path = "../../compare/redis/load.rs"]
mod load;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    /// Makes a limiter, and keeps what it will be asked. The answer is an empty line.
    Prepare(Work),
    /// Lets the callers ask once for every account of the order. The answer is how many were admitted.
    Run,
}

#[derive(Deserialize)]
struct Work {
    limiter: Name,
    /// Units in a window of so many seconds.
    limit: u32,
    window_s: u64,
    callers: usize,
    /// The accounts, by their place in `order`.
    accounts: Vec<Arc<str>>,
    order: Vec<usize>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Name {
    Limitador,
    AxumLimit,
}

type Run = Box<dyn Fn(&Runtime) -> u64>;

fn prepared(runtime: &Runtime, url: &str, work: Work) -> Run {
    fn run(limiter: impl load::Limiter, order: Arc<[Arc<str>]>, callers: usize) -> Run {
        let limiter = Arc::new(limiter);
        Box::new(move |runtime| load::ask(runtime, &limiter, &order, callers))
    }
    let account = |place: &usize| Arc::clone(&work.accounts[*place]);
    let order = work.order.iter().map(account).collect();
    let (limit, window_s) = (work.limit, work.window_s);
    match work.limiter {
        Name::Limitador => {
            let limiter = runtime.block_on(limitador::Limitador::new(url, limit, window_s));
            run(limiter, order, work.callers)
        }
        Name::AxumLimit => {
            let limiter = runtime.block_on(axum_limit::AxumLimit::new(url, limit, window_s));
            run(limiter, order, work.callers)
        }
    }
}

fn main() {
    let url = std::env::args().nth(1).expect("the URL of a server");
    let runtime = load::runtime();
    let mut run: Option<Run> = None;
    for line in stdin().lock().lines() {
        let line = line.expect("standard input");
        match serde_json::from_str(&line).expect("a request") {
            Request::Prepare(work) => {
                run = Some(prepared(&runtime, &url, work));
                println!();
            }
            Request::Run => {
                let run = run.as_ref().expect("a limiter that was prepared");
                println!("{}", run(&runtime));
            }
        }
        stdout().flush().expect("standard output");
    }
}
