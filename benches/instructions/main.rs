//! How many instructions the hot paths take, beside how many they took.
//!
//! `cargo bench -p limiter-bench --bench instructions` counts them with valgrind, and fails where a
//! count grew by more than a tenth since it was recorded with the same compiler for the same target;
//! with another one it only reports. `-- record` records them anew.

#![allow(missing_docs)] // A program: nothing of it is public.

mod cases;
mod count;
mod recorded;

use std::process::ExitCode;

use cases::CASES;
use recorded::{Compiler, Recorded};

/// By how much a count may grow, in hundredths.
const TOLERATED: u64 = 10;

fn main() -> ExitCode {
    // cargo adds --bench.
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        [] => compare(),
        ["record"] => record(),
        ["run", case, times] => cases::run(case, times).map(|()| true),
        _ => Err(format!("{arguments:?} is neither nothing nor \"record\"")),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn counted() -> Result<Recorded, String> {
    let counts = CASES.map(|(case, _)| Ok((case.to_owned(), count::instructions(case)?)));
    Ok(Recorded {
        compiler: Compiler::of_this_machine()?,
        counts: counts.into_iter().collect::<Result<_, String>>()?,
    })
}

fn record() -> Result<bool, String> {
    counted()?.write()?;
    Ok(true)
}

/// Whether no count grew too much.
fn compare() -> Result<bool, String> {
    let (before, now) = (Recorded::read()?, counted()?);
    let is_comparable = before.compiler == now.compiler;
    if !is_comparable {
        println!(
            "recorded with {}, counted with {}: nothing fails",
            before.compiler, now.compiler
        );
    }
    let mut holds = true;
    for (case, count) in &now.counts {
        let Some((_, recorded)) = before.counts.iter().find(|(known, _)| known == case) else {
            return Err(format!("nothing is recorded for {case:?}: record it"));
        };
        let has_grown = count * 100 > recorded * (100 + TOLERATED);
        holds &= !(has_grown && is_comparable);
        let verdict = if has_grown {
            "  more than a tenth above"
        } else {
            ""
        };
        println!("{case}: {count} instructions, recorded {recorded}{verdict}");
    }
    Ok(holds)
}
