//! Minutes of mixed load and random faults, with a ledger at the end: `tests/run soak`.

use std::env;
use std::time::Duration;

use limiter_core::{Budget, Clock, MAX_UNITS, SystemClock};
use limiter_redis::{ReconnectingConnection, RedisStore, RedisStoreBuilder};
use limiter_tests::{
    Direction, Fate, Fault, Persistence, Program, Proxy, Server, on_every_server, pause_for,
};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::load::Load;
use crate::support::{MINUTE, counter, policy};

const DEADLINE: Duration = Duration::from_millis(100);

/// A call may be behind a connection that is opened, and the server may be frozen for a while.
const LONGEST: Duration = Duration::from_secs(4);

/// The limit that the smallest budget really reaches, so that denials are part of the load.
const SMALL: u64 = 2000;

fn budgets() -> Vec<Budget> {
    let limits = [MAX_UNITS, MAX_UNITS, SMALL];
    let identities = ["alice", "bob", "carol"].into_iter();
    identities
        .zip(limits)
        .map(|(identity, limit)| Budget::of(&policy(limit, MINUTE * 60 * 24), identity))
        .collect()
}

/// Random numbers that are the same for the same `SOAK_SEED`.
fn random(program: &Program) -> TestRng {
    let seed: u64 = match env::var("SOAK_SEED") {
        Ok(seed) => seed.parse().expect("SOAK_SEED is a number"),
        Err(_) => SystemClock::new().now().as_millis(),
    };
    println!("{program}: SOAK_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

fn store(proxy: &Proxy) -> RedisStore<ReconnectingConnection> {
    RedisStoreBuilder::unix_socket(proxy.socket())
        .response_deadline(DEADLINE)
        .connect_lazily()
        .unwrap()
}

fn set(server: &Server, name: &str, value: &str) {
    let mut config = redis::cmd("CONFIG");
    config
        .arg("SET")
        .arg(name)
        .arg(value)
        .exec(&mut server.admin())
        .unwrap();
}

/// Lets one random thing go wrong, and makes it good again.
async fn go_wrong(server: &mut Server, proxy: &Proxy, random: &mut TestRng) {
    let mut below = |bound: u32| random.next_u32() % bound;
    let a_while = Duration::from_millis(u64::from(below(300)));
    match below(10) {
        0..6 => {
            let fates = [Fate::Cut, Fate::Swallow, Fate::Hold];
            proxy.arm(Fault {
                direction: [Direction::Request, Direction::Reply][below(2) as usize],
                after: below(600) as usize,
                fate: fates[below(3) as usize],
            });
            pause_for(a_while).await;
            proxy.disarm();
            proxy.release();
        }
        6 => redis::cmd("SCRIPT")
            .arg("FLUSH")
            .exec(&mut server.admin())
            .unwrap(),
        7 => {
            set(server, "maxmemory", "1");
            pause_for(a_while).await;
            set(server, "maxmemory", "0");
        }
        8 => {
            server.freeze();
            pause_for(a_while).await;
            server.thaw();
        }
        _ => {
            server.kill();
            pause_for(a_while).await;
            server.restart();
        }
    }
}

#[test]
#[ignore = "runs for SOAK_MINUTES, or 5: tests/run soak"]
fn random_faults_leave_nothing_unexplained() {
    let minutes =
        env::var("SOAK_MINUTES").map_or(5, |text| text.parse().expect("SOAK_MINUTES is a number"));
    on_every_server(async |program| {
        let mut random = random(program);
        let setup = program.setup().persistence(Persistence::AppendAlways);
        let mut server = setup.start();
        let proxy = Proxy::before(&server);
        let load = Load::of((0..4).map(|_| store(&proxy)).collect(), &budgets());
        let clock = SystemClock::new();
        let end = clock.now().plus_millis(minutes * 60_000);
        let mut faults = 0;
        while clock.now() < end {
            go_wrong(&mut server, &proxy, &mut random).await;
            faults += 1;
            load.goes_on("the store works again").await;
        }
        let ledger = load.stop().await;
        let (mut charged, mut lost) = (0, 0);
        for budget in &budgets() {
            // With every write on disk before its reply, no admission is ever forgotten.
            let counter = counter(&server, budget);
            lost += ledger.lost(budget, counter, u64::MAX);
            charged += counter;
        }
        ledger.report(program, &format!("{faults} faults"), lost);
        let untold = charged + lost - ledger.admitted();
        let unexplained = untold.saturating_sub(ledger.uncertain());
        println!(
            "{program}: {charged} charged, {untold} told to nobody, {unexplained} unexplained"
        );
        assert_eq!((lost, unexplained), (0, 0), "{program}");
        ledger.assert_no_slower_than(LONGEST);
    });
}
