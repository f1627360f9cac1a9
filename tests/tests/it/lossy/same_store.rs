//! A store that stays as it is while its connections are cut.

use limiter_core::{BudgetStore, ErrorKind};
use limiter_redis::RedisStoreBuilder;
use limiter_tests::{Direction, Fate, Fault, on_every_server};

use super::line::{Line, Outcome, SOON};
use crate::support::{one_of, total};

/// The next answer of a store that stays as it is, and nothing else charged on the way to it.
async fn goes_on(line: &Line, store: &impl BudgetStore, what: &str) {
    line.settled().await;
    let charged = line.charged();
    let next = store.acquire(&one_of(&line.budget)).await;
    let next = next.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(total(next), charged + 1, "{what}");
}

#[test]
fn a_store_goes_on_by_itself_after_every_cut() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let builder = RedisStoreBuilder::unix_socket(line.proxy.socket());
        let store = builder.response_deadline(SOON).connect().await.unwrap();
        for (direction, step) in [(Direction::Request, 7), (Direction::Reply, 1)] {
            for after in (0..).step_by(step) {
                let before = line.charged();
                let fault = Fault {
                    direction,
                    after,
                    fate: Fate::Cut,
                };
                line.proxy.arm(fault);
                let told = store.acquire(&one_of(&line.budget)).await.map(total);
                if !line.proxy.disarm() {
                    break;
                }
                let what = format!("{program}, {fault:?}");
                // A whole reply may be read before the end of its connection is.
                let idle = told.is_ok();
                line.settled().await;
                let charged = line.charged() - before;
                Outcome { told, charged }.assert_true(&what);
                if idle {
                    let _ = store.acquire(&one_of(&line.budget)).await;
                }
                goes_on(&line, &store, &what).await;
            }
        }
    });
}

#[test]
fn a_connection_that_is_cut_while_it_is_opened_was_sent_nothing() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let before = line.charged();
        for (direction, step) in [(Direction::Request, 5), (Direction::Reply, 1)] {
            // The greeting has more bytes than that, in both directions.
            for after in (0..10).map(|number| number * step) {
                let builder = RedisStoreBuilder::unix_socket(line.proxy.socket());
                let store = builder.response_deadline(SOON).connect_lazily().unwrap();
                let fault = Fault {
                    direction,
                    after,
                    fate: Fate::Cut,
                };
                line.proxy.arm(fault);
                let told = store.acquire(&one_of(&line.budget)).await;
                let struck = line.proxy.disarm();
                let kind = told.map(total).map_err(|error| error.kind());
                assert!(struck, "{program}, {fault:?}: {kind:?}");
                assert_eq!(kind, Err(ErrorKind::Unavailable), "{program}, {fault:?}");
                line.settled().await;
                assert_eq!(line.charged(), before, "{program}, {fault:?}");
            }
        }
    });
}
