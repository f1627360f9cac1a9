//! A cluster of three primaries and three replicas.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, join_all, select};
use limiter_core::{
    Budget, BudgetStore, DeadlineStore, ErrorKind, MAX_UNITS, RequestId, TokioTimer,
};
use limiter_redis::{CoalescingStore, Mixing, RedisStoreBuilder};
use limiter_tests::{Cluster, Server, eventually, on_every_server};

use super::alone;
use crate::load::Load;
use crate::support::{MINUTE, admitted, key, one_of, policy};

const SOON: Duration = Duration::from_secs(60);
const DEADLINE: Duration = Duration::from_secs(2);

/// How much later than its deadline a call may be told, on a busy machine.
const LATE: Duration = Duration::from_secs(2);

/// Budgets of different identities, and so in different slots.
fn budgets() -> Vec<Budget> {
    let policy = policy(MAX_UNITS, MINUTE * 60);
    (0..12_u64)
        .map(|identity| Budget::of(&policy, identity))
        .collect()
}

async fn stores(cluster: &Cluster) -> Vec<impl BudgetStore + 'static> {
    let mut stores = Vec::new();
    for _ in 0..4 {
        let mut urls = cluster.urls().into_iter();
        let builder = RedisStoreBuilder::url(urls.next().unwrap());
        let builder = urls.fold(builder, RedisStoreBuilder::seed);
        let store = builder
            .connect_deadline(Duration::from_millis(500))
            .response_deadline(Duration::from_millis(500))
            .connect_cluster()
            .await
            .unwrap();
        stores.push(DeadlineStore::new(store, TokioTimer::default(), DEADLINE));
    }
    stores
}

/// The counter of `budget` on `node`, whether that is its primary or the replica.
fn stored(node: &Server, budget: &Budget) -> Option<u64> {
    let mut admin = node.admin();
    redis::cmd("READONLY").exec(&mut admin).unwrap();
    redis::cmd("GET").arg(key(budget)).query(&mut admin).ok()?
}

/// What the cluster holds for `budget`, asked of whichever primary has it.
async fn charged(cluster: &Cluster, budget: &Budget) -> u64 {
    let mut charged = None;
    eventually("some primary has the counter", SOON, async || {
        let primaries = (0..cluster.nodes.len()).filter(|node| cluster.is_primary(*node));
        let mut found = primaries.filter_map(|node| stored(&cluster.nodes[node], budget));
        charged = found.next();
        charged.is_some()
    })
    .await;
    charged.unwrap_or_default()
}

#[test]
fn slots_that_move_under_load_lose_and_repeat_nothing() {
    let _turn = alone();
    on_every_server(async |program| {
        let cluster = Cluster::start(program);
        let budgets = budgets();
        let load = Load::of(stores(&cluster).await, &budgets);
        load.goes_on("the cluster serves").await;
        let slots: Vec<u16> = budgets.iter().map(|b| cluster.slot_of(&key(b))).collect();
        for slot in slots {
            let from = cluster.primary_of(slot);
            if from != 2 {
                cluster.move_slot(slot, from, 2);
            }
        }
        load.goes_on("the cluster serves after the move").await;
        let ledger = load.stop().await;
        for budget in &budgets {
            assert_eq!(
                ledger.lost(budget, charged(&cluster, budget).await, u64::MAX),
                0
            );
        }
        ledger.report(program, "slots moved", 0);
        ledger.assert_no_slower_than(DEADLINE + LATE);
    });
}

/// A store of the cluster that combines calls, and what drives it.
async fn combining(
    cluster: &Cluster,
    mixing: Mixing,
) -> (impl BudgetStore + Clone + 'static, impl Future<Output = ()>) {
    let mut urls = cluster.urls().into_iter();
    let builder = RedisStoreBuilder::url(urls.next().unwrap());
    let builder = urls.fold(builder, RedisStoreBuilder::seed);
    let (store, driver) = CoalescingStore::new(builder.connect_cluster().await.unwrap(), mixing);
    // Sixteen callers for each call that may be under way.
    (store.max_in_flight(NonZeroUsize::new(3).unwrap()), driver)
}

/// What many who ask at once for each of the budgets are told: admitted, denied, not decided.
async fn asked_at_once(store: &(impl BudgetStore + Clone + 'static), each: usize) -> [u64; 3] {
    let policy = policy(10, MINUTE * 60);
    let budgets = (0..12_u64).map(|identity| Budget::of(&policy, identity));
    let calls = budgets.flat_map(|budget| {
        let call = move || {
            let (store, budget) = (store.clone(), budget.clone());
            async move { store.acquire(&one_of(&budget)).await }
        };
        std::iter::repeat_with(call).take(each)
    });
    let mut told = [0; 3];
    for decision in join_all(calls).await {
        match decision {
            Ok(decision) if decision.is_admitted() => told[0] += 1,
            Ok(_) => told[1] += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                told[2] += 1;
            }
        }
    }
    told
}

#[test]
fn calls_that_are_combined_by_hash_tag_admit_the_limit_on_a_cluster() {
    let _turn = alone();
    on_every_server(async |program| {
        let cluster = Cluster::start(program);
        let (store, driver) = combining(&cluster, Mixing::PerHashTag).await;
        let asking = pin!(asked_at_once(&store, 32));
        let Either::Left((told, _)) = select(asking, pin!(driver)).await else {
            unreachable!("the driver goes on while there is a store");
        };
        assert_eq!(told, [12 * 10, 12 * 22, 0], "{program}");
    });
}

#[test]
fn calls_that_are_combined_over_slots_are_unavailable_on_a_cluster_and_admit_no_more() {
    let _turn = alone();
    on_every_server(async |program| {
        let cluster = Cluster::start(program);
        let (store, driver) = combining(&cluster, Mixing::AllKeys).await;
        let asking = pin!(asked_at_once(&store, 32));
        let Either::Left((told, _)) = select(asking, pin!(driver)).await else {
            unreachable!("the driver goes on while there is a store");
        };
        let [admitted, denied, undecided] = told;
        assert!(admitted <= 12 * 10 && undecided > 0, "{program}: {told:?}");
        assert_eq!(admitted + denied + undecided, 12 * 32, "{program}");
    });
}

#[test]
fn while_its_slot_moves_a_request_with_an_id_is_unavailable_and_charges_once_after() {
    let _turn = alone();
    on_every_server(async |program| {
        let cluster = Cluster::start(program);
        let store = &stores(&cluster).await[0];
        let policy = policy(MAX_UNITS, MINUTE * 60);
        let budget = Budget::of(&policy, "alice");
        let slot = cluster.slot_of(&key(&budget));
        let from = cluster.primary_of(slot);
        let to = (from + 1) % 3;
        admitted(store.acquire(&one_of(&budget)).await.unwrap());

        cluster.begin_move(slot, from, to);
        // The budget is on one node, and the record would be on the other.
        let request = one_of(&budget).with_id(RequestId::new("once").unwrap());
        let error = store.acquire(&request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{program}: {error}");
        // Without an id there is one key, and it is where it was.
        admitted(store.acquire(&one_of(&budget)).await.unwrap());
        cluster.finish_move(slot, from, to);

        for _ in 0..2 {
            admitted(store.acquire(&request).await.unwrap());
        }
        assert_eq!(charged(&cluster, &budget).await, 3, "{program}");
    });
}

#[test]
fn a_primary_of_a_cluster_that_is_killed_under_load_costs_what_its_replica_had_not_received() {
    let _turn = alone();
    on_every_server(async |program| {
        let mut cluster = Cluster::start(program);
        let budgets = budgets();
        let load = Load::of(stores(&cluster).await, &budgets);
        load.goes_on("the cluster serves").await;
        cluster.nodes[0].kill();
        let replica = cluster.replica_of(0);
        let kept: Vec<u64> = budgets
            .iter()
            .map(
                |budget| match cluster.primary_of(cluster.slot_of(&key(budget))) {
                    0 => stored(&cluster.nodes[replica], budget).unwrap_or(0),
                    _ => u64::MAX,
                },
            )
            .collect();
        eventually("the replica is promoted", SOON, async || {
            cluster.is_primary(replica)
        })
        .await;
        load.goes_on("the cluster serves the same clients").await;
        let ledger = load.stop().await;
        let mut lost = 0;
        for (budget, kept) in budgets.iter().zip(kept) {
            lost += ledger.lost(budget, charged(&cluster, budget).await, kept);
        }
        ledger.report(program, "primary of a cluster killed", lost);
        ledger.assert_no_slower_than(DEADLINE + LATE);
    });
}
