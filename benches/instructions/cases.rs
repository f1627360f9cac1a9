//! The hot paths.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::{BudgetStore, BudgetStoreExt, Clock, Cost, Policy, RememberingStore, Timestamp};
use limiter_memory::{MemoryStore, Whose};

/// A name, and what does the thing so many times.
type Case = (&'static str, fn(u64));

pub(crate) const CASES: [Case; 5] = [
    ("memory, hot text key, admitted", |times| {
        now(NEVER, "account-0000001", times)
    }),
    ("memory, hot text key, denied", |times| {
        now(1, "account-0000001", times)
    }),
    ("memory, hot integer key, admitted", |times| {
        now(NEVER, 7919, times)
    }),
    ("memory, hot text key, admitted, by trait", |times| {
        by_trait(&store(), NEVER, times);
    }),
    ("remembered, hot text key, denied", |times| {
        let most = NonZeroUsize::new(1024).expect("not 0");
        let store = RememberingStore::new(store(), Standing, most);
        by_trait(&store.recheck(HOUR), 1, times);
    }),
];

const HOUR: Duration = Duration::from_secs(3600);
/// A limit that nobody reaches.
const NEVER: u64 = 1 << 40;

/// A clock that costs nothing: what the store's own takes is up to the machine.
#[derive(Debug)]
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        black_box(Timestamp::from_millis(1_700_000_000_000))
    }
}

fn store() -> MemoryStore<Standing> {
    let built = MemoryStore::builder().clock(Standing).build();
    built.expect("within the bounds")
}

fn policy(limit: u64) -> Policy {
    let named = Policy::named("bench").scope("bench").limit(limit);
    named
        .first_arrival(HOUR)
        .build()
        .expect("within the bounds")
}

/// How often `ask` was answered with yes. What happens in here is what is counted.
#[inline(never)]
fn repeat(times: u64, mut ask: impl FnMut() -> bool) -> u64 {
    (0..times).map(|_| u64::from(ask())).sum()
}

fn now<'a>(limit: u64, key: impl Into<Whose<'a>> + Copy, times: u64) {
    let (store, policy) = (store(), policy(limit));
    let admitted = repeat(times, || {
        let outcome = store.acquire_now(&policy, black_box(key), Cost::ONE);
        outcome.expect("a decision").is_admitted()
    });
    assert_eq!(
        admitted,
        limit.min(times),
        "it is not the path that it says"
    );
}

fn by_trait(store: &impl BudgetStore, limit: u64, times: u64) {
    let policy = policy(limit);
    let admitted = repeat(times, || {
        let decided = store.acquire_one(&policy, black_box("account-0000001"), Cost::ONE);
        let decided = decided.now_or_never().expect("it completes at once");
        decided.expect("a decision").is_admitted()
    });
    assert_eq!(
        admitted,
        limit.min(times),
        "it is not the path that it says"
    );
}

/// Does the thing of this name so many times: what valgrind is to look at.
pub(crate) fn run(case: &str, times: &str) -> Result<(), String> {
    let known = CASES.iter().find(|(name, _)| *name == case);
    let (_, run) = known.ok_or_else(|| format!("no case is called {case:?}"))?;
    let times = times.parse();
    run(times.map_err(|why| format!("how many times: {why}"))?);
    Ok(())
}
