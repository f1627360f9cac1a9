//! This project beside what a user would pick instead, in one run.
//!
//! `cargo bench -p limiter-bench` runs every part, and writes `benches/RESULTS.md`.
//! `cargo bench -p limiter-bench -- memory` runs one: `memory`, `redis` or `simulator`; the page
//! keeps what the other parts said last. `redis` starts a private server.

// A benchmark measures time, and says so in one place.
#![allow(clippy::disallowed_methods)]
#![allow(missing_docs)] // A program: nothing of it is public.

mod goals;
mod machine;
mod memory;
mod page;
mod redis;
mod rounds;
mod simulator;

use std::process::ExitCode;

/// A part: its name, and what makes its section.
type Part = (&'static str, fn() -> String);

const PARTS: [Part; 3] = [
    ("memory", memory::section),
    ("redis", redis::section),
    ("simulator", simulator::section),
];

fn main() -> ExitCode {
    // cargo adds --bench.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        eprintln!(
            "no part is called {unknown:?}; there are {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    }
    for (name, section) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|part| part == name) {
            let section = section();
            println!("{section}");
            page::keep(name, &section);
        }
    }
    page::write(&names);
    ExitCode::SUCCESS
}
