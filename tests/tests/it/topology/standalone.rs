//! One server: by TCP, with a password, with a user of its own.

use limiter_core::{BudgetStore, ErrorKind};
use limiter_redis::RedisStoreBuilder;
use limiter_tests::{Server, on_every_server};

use crate::support::{budget, counter, one_of, total};

fn url(server: &Server, login: &str) -> String {
    format!("redis://{login}127.0.0.1:{}/", server.port().unwrap())
}

async fn serves(server: &Server, builder: RedisStoreBuilder) {
    let store = builder.connect().await.unwrap();
    for expected in 1..=5 {
        assert_eq!(
            total(store.acquire(&one_of(&budget(5))).await.unwrap()),
            expected
        );
    }
    assert!(
        !store
            .acquire(&one_of(&budget(5)))
            .await
            .unwrap()
            .is_admitted()
    );
    assert_eq!(counter(server, &budget(5)), 5, "{}", server.program());
}

/// Connecting fails, and so does a call of a store that connects by itself: both before anything
/// is sent.
async fn refuses(server: &Server, builder: RedisStoreBuilder) {
    let program = server.program();
    let error = builder.clone().connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
    let lazy = builder.connect_lazily().unwrap();
    let error = lazy.acquire(&one_of(&budget(5))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
    assert_eq!(counter(server, &budget(5)), 0, "{program}");
}

#[test]
fn by_tcp() {
    on_every_server(async |program| {
        let server = program.setup().tcp().start();
        serves(&server, RedisStoreBuilder::url(url(&server, ""))).await;
    });
}

#[test]
fn by_unix_socket() {
    on_every_server(async |program| {
        let server = program.setup().start();
        serves(&server, RedisStoreBuilder::unix_socket(server.socket())).await;
    });
}

#[test]
fn with_a_password() {
    on_every_server(async |program| {
        let server = program.setup().tcp().password("secret").start();
        refuses(&server, RedisStoreBuilder::url(url(&server, ":wrong@"))).await;
        serves(&server, RedisStoreBuilder::url(url(&server, ":secret@"))).await;
    });
}

#[test]
fn with_a_user_who_may_do_nothing_else() {
    on_every_server(async |program| {
        let rights = "~limiter:* +evalsha +eval +get +pttl +set +incrby";
        let server = program
            .setup()
            .tcp()
            .directive("user", format_args!("limiter on >secret {rights}"))
            .directive("user", "admin on >all ~* &* +@all")
            .directive("user", "default off")
            .login("admin", "all")
            .start();
        refuses(
            &server,
            RedisStoreBuilder::url(url(&server, "limiter:wrong@")),
        )
        .await;
        serves(
            &server,
            RedisStoreBuilder::url(url(&server, "limiter:secret@")),
        )
        .await;
        let meddling = redis::Client::open(url(&server, "limiter:secret@")).unwrap();
        let mut meddling = meddling.get_connection().unwrap();
        let refused = redis::cmd("FLUSHALL").exec(&mut meddling).unwrap_err();
        assert_eq!(refused.code(), Some("NOPERM"), "{program}");
    });
}
