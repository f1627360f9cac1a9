//! The contract of a store as a list of named tests, for authors of stores.
//!
//! ```
//! # use limiter_core::{BudgetStore, ManualClock, Timestamp};
//! # async fn conformance<S: BudgetStore>(my_store_on: impl Fn(ManualClock) -> S) {
//! use limiter_core::conformance::{Manual, check};
//!
//! let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
//! let report = check(&my_store_on(clock.clone()), &Manual(clock), "my-store").await;
//! assert!(report.passed(), "{report}");
//! # }
//! ```
//!
//! Every clause is checked under every rule and stored form to which it applies. A test is skipped
//! only where the store's [`Capabilities`] do not offer what it is about, or
//! where it needs a clock that can be set back and time is [`Real`]; nothing else can be left out.
//!
//! Scopes of all budgets, and request ids, begin with the prefix that the caller gives: unique for
//! each run on a store that other runs share, and up to 128 bytes. Nothing else in the store is touched, and nothing is
//! wiped.
//!
//! # What it does not see
//!
//! - Corrupt state: what that is, and how to plant it, is a store's own.
//! - Restarts, failovers and lost replies: that is what `limiter-sim` is for.
//! - Threads: `atomic` asks from many futures in one task, so it catches a store that waits between
//!   reading and writing. Races of threads are for loom.

mod clause;
mod clauses;
mod form;
mod report;
mod subject;
mod time;

pub use clause::{Clause, clauses};
pub use form::Form;
pub use report::{Report, Verdict};
pub use time::{Manual, Passage, Real};

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use crate::{BudgetStore, Capabilities};
use report::Line;
use subject::Subject;

/// Checks every clause on `store`, whose time is `time`.
///
/// On a manual clock the tests run one after the other; on a real one those of one clause run at the
/// same time, and the whole takes less than a minute.
pub async fn check(store: &dyn BudgetStore, time: &dyn Passage, prefix: &str) -> Report {
    let mut lines = Vec::new();
    for clause in clauses() {
        lines.extend(check_clause(clause, store, time, prefix).await);
    }
    Report::new(store, lines)
}

async fn check_clause(
    clause: &'static Clause,
    store: &dyn BudgetStore,
    time: &dyn Passage,
    prefix: &str,
) -> Vec<Line> {
    let offered = store.capabilities();
    let forms = Form::ALL.into_iter().filter(|form| clause.applies(*form));
    let tests = forms.map(|form| check_form(clause, form, offered, store, time, prefix));
    if time.is_real() {
        return together(tests.collect()).await;
    }
    let mut lines = Vec::new();
    for test in tests {
        lines.push(test.await);
    }
    lines
}

async fn check_form(
    clause: &'static Clause,
    form: Form,
    offered: Capabilities,
    store: &dyn BudgetStore,
    time: &dyn Passage,
    prefix: &str,
) -> Line {
    let verdict = match clause.skipped(form, &offered, time) {
        Some(reason) => Verdict::Skipped(reason),
        None => {
            let scope = format!("{prefix}/{}/{form}", clause.name());
            let subject = Subject::new(store, time, form, scope);
            match clause.run(&subject).await {
                Ok(()) => Verdict::Passed,
                Err(failure) => Verdict::Failed(failure.0),
            }
        }
    };
    Line {
        clause,
        form,
        verdict,
    }
}

/// The outputs of `futures`, polled together in one task.
async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    struct Running<F: Future> {
        future: Pin<Box<F>>,
        output: Option<F::Output>,
    }
    let running = futures.into_iter().map(|future| Running {
        future: Box::pin(future),
        output: None,
    });
    let mut running: Vec<Running<F>> = running.collect();
    poll_fn(|context| {
        let mut is_ready = true;
        for running in running
            .iter_mut()
            .filter(|running| running.output.is_none())
        {
            match running.future.as_mut().poll(context) {
                Poll::Ready(output) => running.output = Some(output),
                Poll::Pending => is_ready = false,
            }
        }
        if is_ready {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    running
        .into_iter()
        .filter_map(|running| running.output)
        .collect()
}
