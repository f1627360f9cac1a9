//! A cluster of three primaries and three replicas.

use std::time::Duration;

use redis::{FromRedisValue, ToRedisArgs};

use crate::{Program, Server, wait};

const SLOTS: u16 = 16_384;

/// How many primaries there are, and how many replicas.
const HALF: usize = 3;

const PATIENCE: Duration = Duration::from_secs(60);

/// Three primaries that share all slots evenly, and a replica of each, on the loopback address.
#[derive(Debug)]
pub struct Cluster {
    /// The primaries of the beginning, then the replicas in the same order.
    pub nodes: Vec<Server>,
}

impl Cluster {
    /// Starts all of it, and waits until every node says that all is well and every replica is in
    /// step. A node that does not answer for five seconds is taken for lost: less would be too
    /// little on a busy machine.
    ///
    /// # Panics
    /// Where that does not come about.
    pub fn start(program: &Program) -> Self {
        let setup = || program.setup().cluster_node(5000);
        let nodes: Vec<Server> = (0..2 * HALF).map(|_| setup().start()).collect();
        let cluster = Self { nodes };
        for (number, node) in cluster.nodes.iter().enumerate() {
            // An epoch each, as every tool that makes clusters gives them: as long as two have the
            // same one, slots are not safe with either.
            let _: () = ask(node, ("SET-CONFIG-EPOCH", number + 1));
        }
        for primary in 0..HALF {
            cluster.give_slots(primary);
        }
        let first = cluster.nodes[0].port().expect("a node listens on TCP");
        for node in &cluster.nodes[1..] {
            let _: () = ask(node, ("MEET", "127.0.0.1", first));
        }
        cluster.wait_for("every node knows every other one", |cluster| {
            let all = format!("cluster_known_nodes:{}", 2 * HALF);
            cluster.every(|node| info(node).contains(&all))
        });
        for replica in HALF..2 * HALF {
            let primary = cluster.id(replica - HALF);
            let _: () = ask(&cluster.nodes[replica], ("REPLICATE", primary));
        }
        cluster.wait_for("all is well", |cluster| {
            let epoch = format!("cluster_current_epoch:{}\r", 2 * HALF);
            let well = cluster.every(|node| {
                let info = info(node);
                info.contains("cluster_state:ok") && info.contains(&epoch)
            });
            let replicas = &cluster.nodes[HALF..];
            well && replicas
                .iter()
                .all(|replica| replica.says("replication", "master_link_status:up"))
        });
        cluster
    }

    /// Where its nodes are.
    pub fn urls(&self) -> Vec<String> {
        let ports = self.nodes.iter().filter_map(Server::port);
        ports
            .map(|port| format!("redis://127.0.0.1:{port}/"))
            .collect()
    }

    /// The slot of `key`.
    ///
    /// # Panics
    /// Where no node runs.
    pub fn slot_of(&self, key: &[u8]) -> u16 {
        let mut running = self.nodes.iter().filter(|node| node.is_running());
        ask(running.next().expect("a node that runs"), ("KEYSLOT", key))
    }

    /// The number of the primary of the beginning that has `slot`.
    ///
    /// # Panics
    /// Where there is no such slot.
    pub fn primary_of(&self, slot: u16) -> usize {
        (0..HALF)
            .find(|primary| slots(*primary).contains(&slot))
            .expect("a slot below 16,384")
    }

    /// The number of the replica of a primary.
    pub fn replica_of(&self, primary: usize) -> usize {
        primary + HALF
    }

    /// Moves `slot` with all its keys from one primary to another, one key at a time.
    ///
    /// Move slots to one primary only, as resharding tools do. A primary that takes a slot gets a
    /// new epoch without a vote; where several do so at once, a stale claim of one can win over
    /// another, which then drops the slot and all keys in it.
    ///
    /// # Panics
    /// Where a node refuses.
    pub fn move_slot(&self, slot: u16, from: usize, to: usize) {
        self.begin_move(slot, from, to);
        self.finish_move(slot, from, to);
    }

    /// Lets `slot` begin to move: its keys are where they were, and new ones belong to the other.
    ///
    /// # Panics
    /// Where a node refuses.
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        let _: () = ask(target, ("SETSLOT", slot, "IMPORTING", self.id(from)));
        let _: () = ask(source, ("SETSLOT", slot, "MIGRATING", self.id(to)));
    }

    /// Moves the keys of a `slot` that has begun to move, and ends that.
    ///
    /// # Panics
    /// Where a node refuses.
    pub fn finish_move(&self, slot: u16, from: usize, to: usize) {
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        loop {
            let keys: Vec<Vec<u8>> = ask(source, ("GETKEYSINSLOT", slot, 1));
            let Some(key) = keys.first() else {
                break;
            };
            let mut migrate = redis::cmd("MIGRATE");
            migrate
                .arg("127.0.0.1")
                .arg(target.port())
                .arg(key)
                .arg(0)
                .arg(5000);
            migrate
                .exec(&mut source.admin())
                .unwrap_or_else(|error| panic!("slot {slot} does not move: {error}"));
        }
        // The others would learn it by and by; who moves many slots at once had better tell them.
        let to_id = self.id(to);
        let others = (0..HALF).filter(|other| ![from, to].contains(other));
        for node in [to, from].into_iter().chain(others) {
            let _: () = ask(&self.nodes[node], ("SETSLOT", slot, "NODE", &to_id));
        }
    }

    /// Whether `node` says that it is a primary now.
    pub fn is_primary(&self, node: usize) -> bool {
        self.nodes[node].says("replication", "role:master")
    }

    fn give_slots(&self, primary: usize) {
        let mut add = redis::cmd("CLUSTER");
        add.arg("ADDSLOTS")
            .arg(slots(primary).collect::<Vec<u16>>());
        add.exec(&mut self.nodes[primary].admin())
            .expect("a new node takes slots");
    }

    fn id(&self, node: usize) -> String {
        ask(&self.nodes[node], "MYID")
    }

    fn every(&self, holds: impl Fn(&Server) -> bool) -> bool {
        self.nodes.iter().all(holds)
    }

    fn wait_for(&self, what: &str, done: impl Fn(&Self) -> bool) {
        let program = self.nodes[0].program();
        assert!(
            wait::until(PATIENCE, || done(self)),
            "{program}: not so: {what}"
        );
    }
}

/// The slots of one primary in the beginning.
fn slots(primary: usize) -> std::ops::Range<u16> {
    let cut = |number: usize| {
        let cut = usize::from(SLOTS) * number / HALF;
        u16::try_from(cut).expect("a slot is below 16,384")
    };
    cut(primary)..cut(primary + 1)
}

fn info(node: &Server) -> String {
    ask(node, "INFO")
}

fn ask<T: FromRedisValue>(node: &Server, words: impl ToRedisArgs) -> T {
    redis::cmd("CLUSTER")
        .arg(words)
        .query(&mut node.admin())
        .unwrap_or_else(|error| panic!("{} refuses: {error}", node.program()))
}
