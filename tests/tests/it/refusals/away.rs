//! Servers that are not there, or not yet.

use limiter_core::{BudgetStore, ErrorKind};
use limiter_redis::{RedisStore, RedisStoreBuilder};
use limiter_tests::{Persistence, eventually, on_every_server};

use super::SOON;
use crate::support::{budget, counter, one_of, total};

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
