//! What is sent, and what a flushed script cache does.

use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisFuture, Value};

use limiter_core::{Budget, BudgetStore};
use limiter_redis::RedisStore;

use crate::helpers::{MINUTE, ask, granted, policies, policy};
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

/// What the server ran since the last look, scripts not counted: names and numbers of calls.
async fn commands(server: &Server) -> String {
    let info: String = server.run("INFO commandstats").await;
    let _: () = server.run("CONFIG RESETSTAT").await;
    let names = [
        "del",
        "get",
        "hdel",
        "hexists",
        "hget",
        "hincrby",
        "hlen",
        "hmget",
        "hset",
        "incrby",
        "pexpire",
        "pexpireat",
        "pttl",
        "set",
        "time",
        "zadd",
        "zcount",
        "zrange",
        "zrem",
        "zremrangebyscore",
        "zscore",
    ];
    let calls = names.iter().filter_map(|name| {
        let start = format!("cmdstat_{name}:calls=");
        let line = info.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(format!("{name} {}", line.split(',').next().unwrap()))
    });
    calls.collect::<Vec<_>>().join(" ")
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
    commands(&server).await;
    for (identity, cost, expected) in paths {
        let _ = ask(&store, &policy, identity, cost).await.unwrap();
        assert_eq!(commands(&server).await, expected, "{identity} {cost}");
    }
}

/// Of the other rules in the order of `policies`: the first admission, the second, a denial.
const OTHERS: [[&str; 3]; 6] = [
    [
        "get 1 set 1 time 1",
        "get 1 incrby 1 pttl 1",
        "get 1 pttl 1",
    ],
    [
        "hmget 1 hset 1 pexpireat 1 pttl 1 time 1",
        "hget 1 hmget 2 hset 1 pexpireat 1 pttl 1 time 1",
        "hget 1 hmget 3 pttl 1 time 1",
    ],
    [
        "get 1 set 1 time 1",
        "get 1 pttl 1 set 1 time 1",
        "get 1 pttl 1 time 1",
    ],
    [
        "pexpireat 1 time 1 zadd 1 zrange 1 zremrangebyscore 1",
        "pexpireat 1 pttl 1 time 1 zadd 1 zcount 1 zrange 1 zremrangebyscore 1 zscore 1",
        "pttl 1 time 1 zcount 2 zrange 2 zscore 1",
    ],
    [
        "hmget 1 hset 1 pexpire 1 pttl 1",
        "hincrby 1 hmget 1 pttl 1",
        "hmget 1 pttl 1",
    ],
    [
        "hmget 1 hset 1 pexpireat 1 pttl 1 time 1",
        "hincrby 1 hmget 1 pttl 1",
        "hmget 1 pttl 1",
    ],
];

#[tokio::test]
async fn the_other_rules_need_the_commands_that_their_files_say() {
    let server = Server::start();
    let store = server.store().await;
    for (policy, expected) in policies(2, MINUTE * 60 * 24 * 365)
        .iter()
        .skip(1)
        .zip(OTHERS)
    {
        let _ = ask(&store, policy, "carol", 1).await.unwrap();
        commands(&server).await;
        for expected in expected {
            let _ = ask(&store, policy, "alice", 1).await.unwrap();
            let ran = commands(&server).await;
            assert_eq!(ran, expected, "{policy:?}");
        }
    }
}
