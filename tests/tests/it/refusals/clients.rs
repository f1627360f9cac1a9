//! Clients that the server does not serve.

use limiter_core::{BudgetStore, ErrorKind};
use limiter_redis::RedisStoreBuilder;
use limiter_tests::{Server, on_every_server};
use redis::RedisConnectionInfo;

use super::{assert_unavailable, order};
use crate::support::{Store, budget, counter, one_of, total, user_store};

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
