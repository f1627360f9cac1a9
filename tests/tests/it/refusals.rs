//! What the server itself refuses is *unavailable*, and was not charged. The real counter says so.

use std::fs;
use std::time::Duration;

use limiter_core::{BudgetStore, Error, ErrorKind};
use limiter_redis::{RedisStore, RedisStoreBuilder};
use limiter_tests::{Persistence, Program, Server, eventually, on_every_server};
use redis::RedisConnectionInfo;

use crate::support::{
    Store, admitted, budget, counter, denied, one_of, some_of, store, total, user_store,
};

const SOON: Duration = Duration::from_secs(20);

fn order(server: &Server, words: &[&str]) {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]).exec(&mut server.admin()).unwrap();
}

#[track_caller]
fn assert_unavailable(program: &Program, code: &str, error: &Error) {
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
    // The `redis` crate writes some codes in its own spelling, such as `ReadOnly`.
    let told = error.message().to_uppercase();
    assert!(told.contains(code), "{program}: {error}");
}

/// Charges 2 of 5, lets `forbid` forbid all writes with `code`, and checks that a first admission
/// and a later one are both refused and uncharged, while answers that need no write still come.
async fn writes_are_refused(
    program: &Program,
    server: &Server,
    code: &str,
    forbid: impl AsyncFn(),
) {
    let store = store(server).await;
    let (open, empty) = (budget(5), budget(4).under(&other_scope()));
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

fn other_scope() -> limiter_core::Policy {
    let policy = limiter_core::Policy::named("other")
        .scope("elsewhere")
        .limit(5);
    policy
        .first_arrival(Duration::from_secs(60))
        .build()
        .unwrap()
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

#[test]
fn a_client_without_the_password() {
    on_every_server(async |program| {
        let server = program.setup().password("secret").start();
        let stranger = user_store(&server, RedisConnectionInfo::default()).await;
        let error = stranger.acquire(&one_of(&budget(5))).await.unwrap_err();
        assert_unavailable(program, "NOAUTH", &error);
        assert_eq!(counter(&server, &budget(5)), 0);
    });
}

/// A user with `rights` only.
async fn limited(server: &Server, rights: &[&str]) -> Store {
    let set = [&["ACL", "SETUSER", "limited", "reset", "on", ">pw"], rights].concat();
    order(server, &set);
    let login = RedisConnectionInfo::default()
        .set_username("limited")
        .set_password("pw");
    user_store(server, login).await
}

#[test]
fn a_user_without_a_right_that_the_store_needs() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let budget = budget(5);
        let scripts = ["+evalsha", "+eval"];
        let commands = ["+get", "+pttl", "+set", "+incrby"];
        let enough = [&["~limiter:*"][..], &scripts, &commands].concat();
        for missing in ["~limiter:*", "+evalsha", "+get", "+set"] {
            let rights: Vec<&str> = enough.iter().copied().filter(|r| *r != missing).collect();
            let error = limited(&server, &rights)
                .await
                .acquire(&one_of(&budget))
                .await
                .unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::Unavailable,
                "{program}, {missing}: {error}"
            );
            assert_eq!(counter(&server, &budget), 0, "{program}, {missing}");
        }
        let store = limited(&server, &enough).await;
        assert_eq!(
            total(store.acquire(&one_of(&budget)).await.unwrap()),
            1,
            "{program}"
        );
        assert_eq!(
            total(store.acquire(&one_of(&budget)).await.unwrap()),
            2,
            "{program}"
        );
        for missing in ["+pttl", "+incrby"] {
            let rights: Vec<&str> = enough.iter().copied().filter(|r| *r != missing).collect();
            let error = limited(&server, &rights)
                .await
                .acquire(&one_of(&budget))
                .await
                .unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::Unavailable,
                "{program}, {missing}: {error}"
            );
            assert_eq!(counter(&server, &budget), 2, "{program}, {missing}");
        }
    });
}

#[test]
fn a_server_that_is_still_loading() {
    on_every_server(async |program| {
        // It answers between keys, every two megabytes, and takes a while for each key.
        let setup = program.setup().persistence(Persistence::Snapshots);
        let setup = setup
            .directive("rdbcompression", "no")
            .directive("key-load-delay", 30_000);
        let mut server = setup.start();
        let megabyte = vec![b'x'; 1 << 20];
        for number in 0..40 {
            let mut set = redis::cmd("SET");
            set.arg(number)
                .arg(&megabyte)
                .exec(&mut server.admin())
                .unwrap();
        }
        server.stop();
        let socket = server.socket();
        let starting = tokio::task::spawn_blocking(move || {
            server.restart();
            server
        });
        let store = RedisStoreBuilder::unix_socket(socket).response_deadline(SOON);
        let store = store.connect_lazily().unwrap();
        eventually("the server is loading", SOON, async || {
            let error = store.acquire(&one_of(&budget(5))).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
            error.message().contains("is loading")
        })
        .await;
        let server = starting.await.unwrap();
        assert_eq!(counter(&server, &budget(5)), 0, "{program}");
        assert_eq!(
            total(store.acquire(&one_of(&budget(5))).await.unwrap()),
            1,
            "{program}"
        );
    });
}

#[test]
fn a_server_with_too_many_clients() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let mut only = server.admin();
        let mut limit = redis::cmd("CONFIG");
        limit
            .arg(&["SET", "maxclients", "1"])
            .exec(&mut only)
            .unwrap();
        let store = RedisStoreBuilder::unix_socket(server.socket())
            .connect_lazily()
            .unwrap();
        let error = store.acquire(&one_of(&budget(5))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
        let mut more = redis::cmd("CONFIG");
        more.arg(&["SET", "maxclients", "100"])
            .exec(&mut only)
            .unwrap();
        assert_eq!(
            total(store.acquire(&one_of(&budget(5))).await.unwrap()),
            1,
            "{program}"
        );
    });
}

#[test]
fn no_server_at_all() {
    on_every_server(async |program| {
        let mut server = program.setup().start();
        for orderly in [false, true] {
            // After a crash the socket's file is still there, after an orderly end it is not.
            if orderly {
                server.restart();
                server.stop();
            } else {
                server.kill();
            }
            assert_eq!(server.socket().exists(), !orderly);
            let builder = RedisStoreBuilder::unix_socket(server.socket());
            let store = builder.clone().connect_lazily().unwrap();
            let told = store.acquire(&one_of(&budget(5))).await.unwrap_err();
            assert_eq!(told.kind(), ErrorKind::Unavailable, "{program}: {told}");
            let told = builder.connect().await.unwrap_err();
            assert_eq!(told.kind(), ErrorKind::Unavailable, "{program}: {told}");
            // The connection manager of the `redis` crate tells the same by its error.
            let manager = server
                .client()
                .get_connection_manager_lazy(no_retries())
                .unwrap();
            let told = RedisStore::new(manager)
                .acquire(&one_of(&budget(5)))
                .await
                .unwrap_err();
            assert_eq!(told.kind(), ErrorKind::Unavailable, "{program}: {told}");
        }
    });
}

fn no_retries() -> redis::aio::ConnectionManagerConfig {
    redis::aio::ConnectionManagerConfig::new().set_number_of_retries(0)
}
