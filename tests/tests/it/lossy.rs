//! A network that loses: after every byte of a request and of its reply. What the server really
//! charged is compared with what the caller was told.

use std::time::Duration;

use limiter_core::{Budget, BudgetStore, Error, ErrorKind, MAX_UNITS};
use limiter_redis::{RedisStore, RedisStoreBuilder};
use limiter_tests::{Direction, Fate, Fault, Program, Proxy, Server, eventually, on_every_server};
use redis::AsyncConnectionConfig;

use crate::support::{Store, budget, counter, one_of, store, total};

const SOON: Duration = Duration::from_secs(20);

/// How long clients wait for an answer that does not come.
const BRIEF: Duration = Duration::from_millis(40);

/// A server, the proxy before it, and a connection to look at what the server really holds.
struct Line {
    server: Server,
    proxy: Proxy,
    budget: Budget,
}

impl Line {
    async fn to(program: &Program) -> Self {
        let server = program.setup().start();
        let proxy = Proxy::before(&server);
        let budget = budget(MAX_UNITS);
        // The server knows the script from here on.
        assert_eq!(
            total(
                store(&server)
                    .await
                    .acquire(&one_of(&budget))
                    .await
                    .unwrap()
            ),
            1
        );
        Self {
            server,
            proxy,
            budget,
        }
    }

    /// A store with a connection of its own through the proxy, that waits for `patience`.
    async fn store(&self, patience: Duration) -> Store {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(patience));
        let client = self.proxy.client();
        let link = client.get_multiplexed_async_connection_with_config(&config);
        RedisStore::new(link.await.unwrap())
    }

    fn charged(&self) -> u64 {
        counter(&self.server, &self.budget)
    }

    /// Waits until the server has seen the end of every connection but the one that asks: what they
    /// had sent is executed by then, or never will be.
    async fn settled(&self) {
        eventually("the connections are gone", SOON, async || {
            let info: String = redis::cmd("INFO")
                .arg("clients")
                .query(&mut self.server.admin())
                .unwrap();
            info.lines().any(|line| line == "connected_clients:1")
        })
        .await;
    }
}

/// What one lossy call told, and what it charged.
#[derive(Debug)]
struct Outcome {
    told: Result<u64, Error>,
    charged: u64,
}

impl Outcome {
    /// The truth of an outcome: an admission was charged once, *unavailable* was not charged, and
    /// *uncertain* was charged at most once.
    #[track_caller]
    fn assert_true(&self, what: &str) {
        match &self.told {
            Ok(_) => assert_eq!(self.charged, 1, "{what}: {self:?}"),
            Err(error) if error.may_have_spent() => assert!(self.charged <= 1, "{what}: {self:?}"),
            Err(_) => assert_eq!(self.charged, 0, "{what}: {self:?}"),
        }
    }
}

/// Makes `fault` strike one acquire on a connection of its own. `None` where it had no chance to.
async fn struck(line: &Line, fault: Fault, patience: Duration) -> Option<Outcome> {
    let store = line.store(patience).await;
    let before = line.charged();
    line.proxy.arm(fault);
    let told = store.acquire(&one_of(&line.budget)).await.map(total);
    let struck = line.proxy.disarm();
    drop(store);
    line.settled().await;
    let charged = line.charged() - before;
    struck.then_some(Outcome { told, charged })
}

/// Strikes after every `step`-th byte in `direction`, and returns how many outcomes were charged.
async fn after_every(
    line: &Line,
    (direction, fate): (Direction, Fate),
    step: usize,
    prepare: impl AsyncFn(),
) -> Vec<Outcome> {
    let patience = if fate == Fate::Cut { SOON } else { BRIEF };
    let mut outcomes = Vec::new();
    for after in (0..).step_by(step) {
        prepare().await;
        let fault = Fault {
            direction,
            after,
            fate,
        };
        let Some(outcome) = struck(line, fault, patience).await else {
            break;
        };
        outcome.assert_true(&format!("{}, {fault:?}", line.server.program()));
        outcomes.push(outcome);
    }
    outcomes
}

fn charged(outcomes: &[Outcome]) -> usize {
    outcomes
        .iter()
        .filter(|outcome| outcome.charged == 1)
        .count()
}

#[test]
fn a_request_cut_after_any_byte_is_charged_only_if_all_of_it_had_passed() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let cut = (Direction::Request, Fate::Cut);
        let outcomes = after_every(&line, cut, 1, async || {}).await;
        assert!(outcomes.len() > 100, "{program}: {} bytes", outcomes.len());
        // The last one struck behind the last byte.
        assert_eq!(charged(&outcomes), 1, "{program}");
        assert_eq!(outcomes.last().unwrap().charged, 1, "{program}");
        assert!(outcomes.iter().all(|outcome| outcome.told.is_err()));
    });
}

#[test]
fn a_reply_cut_after_any_byte_is_uncertain_and_was_charged() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let cut = (Direction::Reply, Fate::Cut);
        let outcomes = after_every(&line, cut, 1, async || {}).await;
        assert!(outcomes.len() > 10, "{program}: {} bytes", outcomes.len());
        assert_eq!(charged(&outcomes), outcomes.len(), "{program}");
        let (whole, parts) = outcomes.split_last().unwrap();
        assert!(
            whole.told.is_ok(),
            "{program}: a whole reply is an answer: {whole:?}"
        );
        for outcome in parts {
            let kind = outcome.told.as_ref().map_err(Error::kind);
            assert_eq!(kind, Err(ErrorKind::Uncertain), "{program}");
        }
    });
}

#[test]
fn a_request_or_a_reply_that_is_swallowed_is_uncertain() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        for (direction, step) in [(Direction::Request, 23), (Direction::Reply, 3)] {
            let lost = (direction, Fate::Swallow);
            let outcomes = after_every(&line, lost, step, async || {}).await;
            // The last one can have struck behind the last byte, and then nothing was lost.
            let lost: Vec<&Outcome> = outcomes.iter().filter(|o| o.told.is_err()).collect();
            assert!(lost.len() >= 4, "{program}, {direction:?}");
            assert!(lost.len() + 1 >= outcomes.len(), "{program}, {direction:?}");
            for outcome in lost {
                let executed = u64::from(direction == Direction::Reply);
                assert_eq!(outcome.charged, executed, "{program}, {direction:?}");
                let kind = outcome.told.as_ref().map_err(Error::kind);
                assert_eq!(kind, Err(ErrorKind::Uncertain), "{program}, {direction:?}");
            }
        }
    });
}

#[test]
fn a_script_that_has_to_be_sent_again_is_never_charged_twice_wherever_the_line_is_cut() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        let flush = async || {
            let mut flush = redis::cmd("SCRIPT");
            flush.arg("FLUSH").exec(&mut line.server.admin()).unwrap();
        };
        for (direction, step) in [(Direction::Request, 17), (Direction::Reply, 1)] {
            let outcomes = after_every(&line, (direction, Fate::Cut), step, flush).await;
            assert!(
                outcomes.len() > 20,
                "{program}, {direction:?}: {}",
                outcomes.len()
            );
        }
    });
}

#[test]
fn a_late_reply_is_not_taken_for_the_answer_to_the_next_request() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        for after in [0, 1, 5] {
            let store = line.store(BRIEF).await;
            let direction = Direction::Reply;
            line.proxy.arm(Fault {
                direction,
                after,
                fate: Fate::Hold,
            });
            let error = store.acquire(&one_of(&line.budget)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Uncertain, "{program}: {error}");
            line.proxy.release();
            for _ in 0..3 {
                if let Ok(decision) = store.acquire(&one_of(&line.budget)).await {
                    assert_eq!(total(decision), line.charged(), "{program}");
                }
            }
        }
    });
}

#[test]
fn requests_and_replies_that_come_byte_by_byte_are_whole_all_the_same() {
    on_every_server(async |program| {
        let line = Line::to(program).await;
        line.proxy.one_by_one(true);
        let store = line.store(SOON).await;
        for expected in 2..12 {
            assert_eq!(
                total(store.acquire(&one_of(&line.budget)).await.unwrap()),
                expected
            );
        }
        assert_eq!(line.charged(), 11, "{program}");
    });
}

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
            // The greeting is shorter than this, in both directions.
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
