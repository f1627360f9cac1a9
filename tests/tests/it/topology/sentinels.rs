//! A primary with a replica and three sentinels.

use std::time::Duration;

use limiter_core::{BudgetStore, ErrorKind, MAX_UNITS};
use limiter_redis::{ReconnectingConnection, RedisStore, RedisStoreBuilder};
use limiter_tests::{Watched, eventually, on_every_server};

use super::alone;
use crate::load::Load;
use crate::support::{budget, counter, one_of, total};

const SOON: Duration = Duration::from_secs(60);
const DEADLINE: Duration = Duration::from_millis(500);

/// A call may have to connect to three sentinels and a server, and wait for an answer of each.
const LONGEST: Duration = Duration::from_secs(4);

fn builder(watched: &Watched) -> RedisStoreBuilder {
    let mut urls = watched.urls().into_iter();
    let builder = RedisStoreBuilder::url(urls.next().unwrap());
    urls.fold(builder, RedisStoreBuilder::seed)
        .connect_deadline(DEADLINE)
        .response_deadline(DEADLINE)
}

async fn stores(watched: &Watched) -> Vec<RedisStore<ReconnectingConnection>> {
    let mut stores = Vec::new();
    for _ in 0..4 {
        let store = builder(watched).connect_by_sentinels(watched.name()).await;
        stores.push(store.unwrap());
    }
    stores
}

#[test]
fn a_primary_that_is_killed_under_load_costs_what_its_replica_had_not_received() {
    let _turn = alone();
    on_every_server(async |program| {
        let mut watched = Watched::start(program);
        let budget = budget(MAX_UNITS);
        let load = Load::of(stores(&watched).await, std::slice::from_ref(&budget));
        load.goes_on("the primary serves").await;
        watched.primary.kill();
        // Nobody writes to the replica until it is promoted.
        let kept = counter(&watched.replica, &budget);
        eventually("the replica is promoted", SOON, async || {
            watched.is_promoted()
        })
        .await;
        load.goes_on("the new primary serves the same clients")
            .await;
        let ledger = load.stop().await;
        let lost = ledger.lost(&budget, counter(&watched.replica, &budget), kept);
        ledger.report(program, "primary killed", lost);
        ledger.assert_no_slower_than(LONGEST);
    });
}

#[test]
fn a_primary_that_is_frozen_under_load_is_left_when_its_replica_is_promoted() {
    let _turn = alone();
    on_every_server(async |program| {
        let watched = Watched::start(program);
        let budget = budget(MAX_UNITS);
        let load = Load::of(stores(&watched).await, std::slice::from_ref(&budget));
        load.goes_on("the primary serves").await;
        watched.primary.freeze();
        // What it had sent is there, and nobody writes to the replica until it is promoted.
        let kept = counter(&watched.replica, &budget);
        eventually("the replica is promoted", SOON, async || {
            watched.is_promoted()
        })
        .await;
        load.goes_on("the new primary serves the same clients")
            .await;
        let ledger = load.stop().await;
        let lost = ledger.lost(&budget, counter(&watched.replica, &budget), kept);
        ledger.report(program, "primary frozen", lost);
        ledger.assert_no_slower_than(LONGEST);
        watched.primary.thaw();
        eventually("the old primary is demoted", SOON, async || {
            watched.primary.says("replication", "role:slave")
        })
        .await;
        let stores = stores(&watched).await;
        let charged = counter(&watched.replica, &budget);
        assert_eq!(
            total(stores[0].acquire(&one_of(&budget)).await.unwrap()),
            charged + 1
        );
    });
}

#[test]
fn sentinels_that_are_away_or_know_no_such_primary_are_unavailable() {
    let _turn = alone();
    on_every_server(async |program| {
        let watched = Watched::start(program);
        let error = builder(&watched)
            .connect_by_sentinels("other")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
        let urls = watched.urls();
        drop(watched);
        let gone = RedisStoreBuilder::url(&urls[0])
            .connect_by_sentinels("main")
            .await;
        let error = gone.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
    });
}
