//! What is sent, and what a flushed script cache does.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisFuture, Value};

use limiter_core::{Budget, BudgetStore};
use limiter_redis::RedisStore;

use crate::helpers::{MINUTE, ask, granted, policy};
use crate::server::Server;

/// Notes every command, and can flush the script cache before each.
#[derive(Clone)]
struct Meddler {
    inner: MultiplexedConnection,
    flush: bool,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Meddler {
    async fn on(server: &Server, flush: bool) -> Self {
        let inner = server.connection().await;
        let sent = Arc::default();
        Self { inner, flush, sent }
    }

    fn sent(&self) -> Vec<String> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

impl ConnectionLike for Meddler {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        async move {
            if self.flush {
                let mut flush = redis::cmd("SCRIPT");
                flush.arg("FLUSH");
                self.inner.req_packed_command(&flush).await?;
            }
            let Some(redis::Arg::Simple(name)) = cmd.args_iter().next() else {
                panic!("a command has a name");
            };
            let name = String::from_utf8(name.to_vec()).unwrap();
            self.sent.lock().unwrap().push(name);
            self.inner.req_packed_command(cmd).await
        }
        .boxed()
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        panic!("the store sends no pipelines")
    }

    fn get_db(&self) -> i64 {
        0
    }
}

#[tokio::test]
async fn a_call_is_one_request_and_two_where_the_server_does_not_know_the_script() {
    let server = Server::start();
    let meddler = Meddler::on(&server, false).await;
    let store = RedisStore::new(meddler.clone());
    let policy = policy(5, MINUTE);
    granted(ask(&store, &policy, "alice", 1).await);
    assert_eq!(meddler.sent(), ["EVALSHA", "EVAL"]);
    granted(ask(&store, &policy, "alice", 1).await);
    assert_eq!(meddler.sent(), ["EVALSHA"]);
    let budget = Budget::of(&policy, "alice");
    store.peek(&budget).await.unwrap();
    assert_eq!(meddler.sent(), ["EVALSHA", "EVAL"]);
    store.peek(&budget).await.unwrap();
    assert_eq!(meddler.sent(), ["EVALSHA"]);
}

#[tokio::test]
async fn a_cache_that_is_flushed_before_every_request_costs_a_request_and_no_answer() {
    let server = Server::start();
    let meddler = Meddler::on(&server, true).await;
    let store = RedisStore::new(meddler.clone());
    let policy = policy(100, MINUTE);
    for total in 1..=20 {
        assert_eq!(granted(ask(&store, &policy, "alice", 1).await).total, total);
        assert_eq!(meddler.sent(), ["EVALSHA", "EVAL"]);
    }
}

#[tokio::test]
async fn each_path_has_as_few_commands_as_it_can() {
    let server = Server::start();
    let store = server.store().await;
    let policy = policy(2, MINUTE);
    let paths = [
        ("alice", 1, "get 1 set 1"),
        ("alice", 1, "get 1 incrby 1 pttl 1"),
        ("alice", 1, "get 1 pttl 1"),
        ("bob", 3, "get 1"),
    ];
    // The first call of all would also count what loads the script.
    let _ = ask(&store, &policy, "carol", 1).await.unwrap();
    for (identity, cost, expected) in paths {
        let _: () = server.run("CONFIG RESETSTAT").await;
        let _ = ask(&store, &policy, identity, cost).await.unwrap();
        let info: String = server.run("INFO commandstats").await;
        let mut calls: Vec<String> = ["get", "set", "incrby", "pttl", "del", "time"]
            .iter()
            .filter_map(|name| {
                let start = format!("cmdstat_{name}:calls=");
                let line = info.lines().find_map(|line| line.strip_prefix(&start))?;
                Some(format!("{name} {}", line.split(',').next().unwrap()))
            })
            .collect();
        calls.sort();
        assert_eq!(calls.join(" "), expected, "{identity} {cost}");
    }
}
