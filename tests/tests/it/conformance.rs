//! The contract's own tests, on every server that is there:
//! `cargo test -p limiter-tests --test it conformance -- --nocapture` prints the reports. Those of the
//! store in memory and of the one on SQLite are printed by their own packages' tests of that name.

use std::num::NonZeroU16;

use limiter_core::conformance::{Real, check};
use limiter_core::{BudgetStore, Together, TokioTimer};
use limiter_redis::{HashTags, RedisStoreBuilder};
use limiter_tests::on_every_server;

/// As a store is built unless it is said otherwise, and as one that charges any budgets together.
const LAYOUTS: [(HashTags, Together); 2] = [
    (HashTags::PerIdentity, Together::OneIdentity),
    (HashTags::Partitions(NonZeroU16::MIN), Together::Any),
];

#[test]
fn every_server_keeps_every_clause_under_every_rule() {
    on_every_server(async |program| {
        for (tags, together) in LAYOUTS {
            let server = program.setup().start();
            let builder = RedisStoreBuilder::unix_socket(server.socket());
            let store = builder.hash_tags(tags).connect().await;
            let store = store.expect("a connection");
            assert_eq!(store.capabilities().together, together);
            let time = Real(TokioTimer::default());
            let report = check(&store, &time, "conformance").await;
            println!("{program}, {tags:?}\n{report}");
            assert!(report.passed(), "{report}");
        }
    });
}
