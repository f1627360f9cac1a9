//! What an author of a store writes to hold it to the contract.

use futures_util::FutureExt;
use limiter_core::conformance::{Manual, check};
use limiter_core::{Acquire, Budget, BudgetStore, Cost, ErrorKind, ManualClock, Policy, Timestamp};
use limiter_example_sqlite::SqliteStore;
use rusqlite::Connection;

fn clock() -> ManualClock {
    ManualClock::at(Timestamp::from_millis(1_700_000_000_000))
}

fn store(connection: Connection, clock: &ManualClock) -> SqliteStore<ManualClock> {
    SqliteStore::new(connection, clock.clone()).expect("a table can be made in memory")
}

#[test]
fn a_store_on_sqlite_keeps_the_contract() {
    let clock = clock();
    let store = store(Connection::open_in_memory().unwrap(), &clock);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let report = runtime.block_on(check(&store, &Manual(clock), "sqlite"));
    println!("{report}");
    assert!(report.passed(), "{report}");
}

#[test]
fn a_row_that_somebody_else_wrote_is_corrupt_and_stays() {
    let file = std::env::temp_dir().join(format!("limiter-sqlite-{}", std::process::id()));
    let policy = Policy::named("log-in").scope("corrupt").limit(5);
    let policy = policy
        .token_bucket(std::time::Duration::from_secs(60), 5)
        .build()
        .unwrap();
    let budget = Budget::of(&policy, "alice");
    let store = store(Connection::open(&file).unwrap(), &clock());
    let other = Connection::open(&file).unwrap();
    let row = (budget.key().as_bytes().to_vec(), b"abc".to_vec(), 0);
    other
        .execute("INSERT INTO budgets VALUES (?1, ?2, ?3)", row)
        .unwrap();
    let request = Acquire::one(budget.clone(), Cost::ONE);
    let ask = || store.acquire(&request).now_or_never().unwrap();
    for _ in 0..2 {
        let error = ask().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(!error.to_string().contains("alice"), "{error}");
    }
    store.reset(&budget).now_or_never().unwrap().unwrap();
    assert!(ask().unwrap().is_admitted());
    std::fs::remove_file(file).unwrap();
}
