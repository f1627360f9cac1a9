//! Servers that answer, and take no writes.

use std::fs;

use limiter_core::{Budget, BudgetStore};
use limiter_tests::{Persistence, Program, Server, eventually, on_every_server};

use super::{SOON, assert_unavailable, order};
use crate::support::{
    MINUTE, admitted, budget, counter, denied, one_of, policy, some_of, store, total,
};

/// Charges 2 of 5, lets `forbid` forbid all writes with `code`, and checks that a first admission
/// and a later one are both refused and uncharged, while answers that need no write still come.
async fn writes_are_refused(
    program: &Program,
    server: &Server,
    code: &str,
    forbid: impl AsyncFn(),
) {
    let store = store(server).await;
    let (open, empty) = (budget(5), Budget::of(&policy(5, MINUTE), "bob"));
    assert_eq!(total(store.acquire(&some_of(&open, 2)).await.unwrap()), 2);
    forbid().await;
    for budget in [&open, &empty] {
        let error = store.acquire(&one_of(budget)).await.unwrap_err();
        assert_unavailable(program, code, &error);
    }
    assert_eq!((counter(server, &open), counter(server, &empty)), (2, 0));
    let _ = denied(store.acquire(&some_of(&open, 4)).await.unwrap());
    assert_eq!(store.peek(&open).await.unwrap().total, 2);
}

#[test]
fn a_server_out_of_memory() {
    on_every_server(async |program| {
        let server = program.setup().start();
        writes_are_refused(program, &server, "OOM", async || {
            order(&server, &["CONFIG", "SET", "maxmemory", "1"]);
        })
        .await;
    });
}

#[test]
fn a_primary_with_too_few_replicas() {
    on_every_server(async |program| {
        let server = program.setup().start();
        writes_are_refused(program, &server, "NOREPLICAS", async || {
            order(&server, &["CONFIG", "SET", "min-replicas-to-write", "1"]);
        })
        .await;
    });
}

#[test]
fn a_server_that_cannot_save_its_snapshots() {
    on_every_server(async |program| {
        let server = program.setup().persistence(Persistence::Snapshots).start();
        writes_are_refused(program, &server, "MISCONF", async || {
            // A directory is in the way of the snapshot.
            fs::create_dir(server.dir().join("dump.rdb")).unwrap();
            order(&server, &["BGSAVE"]);
            eventually("the snapshot fails", SOON, async || {
                info(&server, "persistence").contains("rdb_last_bgsave_status:err")
            })
            .await;
        })
        .await;
    });
}

fn info(server: &Server, section: &str) -> String {
    redis::cmd("INFO")
        .arg(section)
        .query(&mut server.admin())
        .unwrap()
}

#[test]
fn a_replica() {
    on_every_server(async |program| {
        let primary = program.setup().tcp().start();
        let replica = program.setup().replica_of(&primary).start();
        let budget = budget(5);
        let _ = admitted(
            store(&primary)
                .await
                .acquire(&one_of(&budget))
                .await
                .unwrap(),
        );
        eventually("the replica has the counter", SOON, async || {
            counter(&replica, &budget) == 1
        })
        .await;
        let error = store(&replica)
            .await
            .acquire(&one_of(&budget))
            .await
            .unwrap_err();
        assert_unavailable(program, "READONLY", &error);
        assert_eq!(
            (counter(&primary, &budget), counter(&replica, &budget)),
            (1, 1)
        );
    });
}

#[test]
fn a_server_that_another_script_keeps_busy() {
    on_every_server(async |program| {
        let server = program.setup().directive("lua-time-limit", 20).start();
        let store = store(&server).await;
        let mut looping = server.connect().await;
        let endless = tokio::spawn(async move {
            let mut eval = redis::cmd("EVAL");
            eval.arg("while true do end")
                .arg(0)
                .exec_async(&mut looping)
                .await
        });
        let mut other = server.connect().await;
        eventually("the server is busy", SOON, async || {
            let ping = redis::cmd("PING").exec_async(&mut other).await;
            ping.is_err_and(|error| error.code() == Some("BUSY"))
        })
        .await;
        let error = store.acquire(&one_of(&budget(5))).await.unwrap_err();
        assert_unavailable(program, "BUSY", &error);
        redis::cmd("SCRIPT")
            .arg("KILL")
            .exec_async(&mut other)
            .await
            .unwrap();
        assert!(endless.await.unwrap().is_err(), "the script was killed");
        assert_eq!(total(store.acquire(&one_of(&budget(5))).await.unwrap()), 1);
    });
}
