//! The contract's own tests: against a real server in real time, and against a modelled one on a clock
//! that can be set.

use std::num::NonZeroU16;

use limiter_core::conformance::{Manual, Real, Report, Verdict, check};
use limiter_core::{ManualClock, Timestamp, TokioTimer};
use limiter_redis::{HashTags, RedisStore};

use crate::model::Model;
use crate::server::Server;

/// The layouts in which different budgets lie together.
const LAYOUTS: [HashTags; 3] = [
    HashTags::PerIdentity,
    HashTags::Partitions(NonZeroU16::MIN),
    HashTags::Partitions(NonZeroU16::MIN.saturating_add(3)),
];

fn skipped(report: &Report) -> usize {
    let verdicts = report.tests().map(|(_, _, verdict)| verdict);
    verdicts
        .filter(|verdict| matches!(verdict, Verdict::Skipped(_)))
        .count()
}

#[tokio::test]
async fn a_real_server_keeps_every_clause_under_every_rule() {
    let server = Server::start();
    let store = server.builder().connect();
    let (store, time) = (store.await.unwrap(), Real(TokioTimer::default()));
    let report = check(&store, &time, "conformance").await;
    println!("{report}");
    assert!(report.passed(), "{report}");
    // Only what needs a clock that is set back: one test for each of nine forms.
    assert_eq!(skipped(&report), 9, "{report}");
}

#[tokio::test]
async fn a_modelled_server_keeps_every_clause_to_the_millisecond() {
    for tags in LAYOUTS {
        let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
        let model = Model::on(clock.clone());
        let store = RedisStore::new(model).with_hash_tags(tags);
        let report = check(&store, &Manual(clock), "conformance").await;
        assert!(report.passed(), "{tags:?}: {report}");
        assert_eq!(skipped(&report), 0, "{tags:?}: {report}");
    }
}
