//! One server, by TLS, on every server of this machine that was built with it.

use limiter_core::{BudgetStore, ErrorKind};
use limiter_redis::{ReconnectingConnection, RedisStore, RedisStoreBuilder};
use limiter_tests::{Certificates, Program, Server, on_every, servers};
use redis::{AsyncConnectionConfig, Client, TlsCertificates};

use crate::support::{budget, counter, one_of, total};

fn with_tls() -> impl Iterator<Item = &'static Program> {
    servers().iter().filter(|program| program.has_tls())
}

fn url(server: &Server) -> String {
    format!("rediss://127.0.0.1:{}/", server.tls_port().unwrap())
}

fn store(server: &Server, trust: TlsCertificates) -> RedisStore<ReconnectingConnection> {
    let client = Client::build_with_tls(url(server), trust).unwrap();
    let config = AsyncConnectionConfig::new();
    RedisStore::new(ReconnectingConnection::new(client, config))
}

#[test]
fn a_store_with_the_right_authority_is_served() {
    on_every(with_tls(), async |program| {
        let certificates = Certificates::new();
        for both_sides in [false, true] {
            let server = program.setup().tls(&certificates, both_sides).start();
            let store = store(&server, certificates.of_client(both_sides));
            for expected in 1..=5 {
                assert_eq!(
                    total(store.acquire(&one_of(&budget(5))).await.unwrap()),
                    expected
                );
            }
            assert_eq!(counter(&server, &budget(5)), 5, "{program}");
        }
    });
}

#[test]
fn an_unknown_authority_is_refused_before_anything_is_sent() {
    on_every(with_tls(), async |program| {
        let server = program.setup().tls(&Certificates::new(), false).start();
        let stranger = store(&server, Certificates::new().of_client(false));
        let error = stranger.acquire(&one_of(&budget(5))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
        let error = RedisStoreBuilder::url(url(&server))
            .connect()
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
        assert_eq!(counter(&server, &budget(5)), 0, "{program}");
    });
}

#[test]
fn a_client_without_a_certificate_is_refused_where_both_sides_show_one() {
    on_every(with_tls(), async |program| {
        let certificates = Certificates::new();
        let server = program.setup().tls(&certificates, true).start();
        let bare = store(&server, certificates.of_client(false));
        let error = bare.acquire(&one_of(&budget(5))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
        assert_eq!(counter(&server, &budget(5)), 0, "{program}");
    });
}
