//! The contract's own tests, on every server that is there:
//! `cargo test -p limiter-tests --test it conformance -- --nocapture` prints the reports. Those of the
//! store in memory and of the one on SQLite are printed by their own packages' tests of that name.

use std::num::NonZeroU16;

use limiter_core::TokioTimer;
use limiter_core::conformance::{Real, check};
use limiter_redis::{HashTags, RedisStoreBuilder};
use limiter_tests::on_every_server;

/// The kit charges budgets of several identities together.
const ONE_PARTITION: HashTags = HashTags::Partitions(NonZeroU16::MIN);

#[test]
fn every_server_keeps_every_clause_under_every_rule() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let builder = RedisStoreBuilder::unix_socket(server.socket());
        let store = builder
            .hash_tags(ONE_PARTITION)
            .connect()
            .await
            .expect("a connection");
        let time = Real(TokioTimer::default());
        let report = check(&store, &time, "conformance").await;
        println!("{program}\n{report}");
        assert!(report.passed(), "{report}");
    });
}
