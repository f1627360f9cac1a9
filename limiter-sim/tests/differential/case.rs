//! A sequence of steps, and running it on the model and on a real server side by side.

use std::fmt;

use limiter_sim::server::{Config, Node, Reply, Request, Role, ScriptMode, set_script_mode};

use crate::client::Client;
use crate::compare;
use crate::generator;
use crate::real::Server;

/// One step of a case.
#[derive(Clone)]
pub(crate) enum Step {
    /// A request of one of two connections.
    Ask(u32, Request),
    /// A connection is closed and opened again.
    Reconnect(u32),
    /// The server becomes a replica (of nobody who answers), or a primary again.
    Role(Role),
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(connection, request) => {
                write!(f, "{connection}>")?;
                request
                    .argv()
                    .iter()
                    .try_for_each(|word| write!(f, " {word:?}"))
            }
            Self::Reconnect(connection) => write!(f, "{connection}> reconnects"),
            Self::Role(role) => write!(f, "the server becomes a {role:?}"),
        }
    }
}

/// A request of connection 0, from words.
pub(crate) fn ask<const N: usize>(words: [&str; N]) -> Step {
    Step::Ask(0, Request::new(words))
}

/// The connection on which the tests look after the server.
const ADMIN: u32 = 9;

/// The model, twice: scripts run from memory on one and always in Lua on the other; and a replica that
/// lives on the effects of the first.
struct Models {
    memoised: Node,
    live: Node,
    replica: Node,
}

impl Models {
    fn new(server: &Server) -> Self {
        let node = Node::new(Config::new(server.version)).expect("a valid setting");
        let mut replica = node.clone();
        replica.set_role(Role::Replica);
        Self {
            memoised: node.clone(),
            live: node,
            replica,
        }
    }

    fn set_time(&mut self, now_ms: i64) {
        self.memoised.set_time(now_ms);
        self.live.set_time(now_ms);
        self.replica.set_time(now_ms);
    }

    fn execute(&mut self, connection: u32, request: &Request) -> Result<Reply, String> {
        let reply = self.memoised.execute(connection, request);
        set_script_mode(ScriptMode::Live);
        let live = self.live.execute(connection, request);
        set_script_mode(ScriptMode::Memoised);
        for effect in self.memoised.take_effects() {
            self.replica.apply(&effect);
        }
        if live != reply || self.memoised.data_hash() != self.live.data_hash() {
            return Err(format!("from memory: {reply}\nin Lua:      {live}"));
        }
        Ok(reply)
    }

    /// What any command does before it runs: keys are evicted.
    fn tick(&mut self, now_ms: i64) -> Result<(), String> {
        self.set_time(now_ms);
        self.execute(ADMIN, &Request::new(["PING"])).map(drop)
    }

    fn check_replica(&self) -> Result<(), String> {
        let state = |node: &Node| -> Vec<_> {
            node.keyspace()
                .map(|entry| {
                    (
                        entry.key().clone(),
                        entry.value().clone(),
                        entry.deadline_ms(),
                    )
                })
                .collect()
        };
        let (primary, replica) = (state(&self.memoised), state(&self.replica));
        if primary == replica {
            Ok(())
        } else {
            Err(format!("primary: {primary:?}\nreplica: {replica:?}"))
        }
    }
}

/// Runs a case on both sides.
pub(crate) fn run(server: &Server, steps: &[Step]) -> Result<(), String> {
    let mut admin = server.connect();
    reset(&mut admin);
    let mut clients = [server.connect(), server.connect()];
    let mut models = Models::new(server);
    let time = Request::new(["TIME"]);
    for (at, step) in steps.iter().enumerate() {
        let told =
            |problem: String| format!("{} at step {at} of {steps:#?}\n{problem}", server.name);
        match step {
            Step::Ask(connection, request) => {
                // The admin's clock reading costs a round trip, but `TIME` on the client's own connection
                // would be queued in a transaction.
                models.tick(now_ms(&admin.ask(&time))).map_err(told)?;
                let real = clients[*connection as usize].try_ask(request);
                let real = real.map_err(|error| told(format!("{request}: {error}")))?;
                let model = models.execute(*connection, request).map_err(told)?;
                if models
                    .memoised
                    .unmodelled()
                    .iter()
                    .any(|what| what.starts_with("INCRBYFLOAT"))
                {
                    return Ok(());
                }
                compare::replies(request, server.version, &model, &real).map_err(told)?;
            }
            Step::Reconnect(connection) => {
                clients[*connection as usize] = server.connect();
                models.memoised.disconnect(*connection);
                models.live.disconnect(*connection);
            }
            Step::Role(role) => {
                // It arrives as a command, and so evicts before it runs.
                models.tick(now_ms(&admin.ask(&time))).map_err(told)?;
                // The model removes what expires at once, a server when somebody looks; and a replica
                // of 6.2 shows to scripts what it has not removed.
                for key in generator::KEYS {
                    admin.words(["EXISTS", key]);
                }
                match role {
                    Role::Primary => admin.words(["REPLICAOF", "NO", "ONE"]),
                    Role::Replica => admin.words(["REPLICAOF", "127.0.0.1", "1"]),
                };
                models.memoised.set_role(*role);
                models.live.set_role(*role);
            }
        }
    }
    admin.words(["REPLICAOF", "NO", "ONE"]);
    models.memoised.set_role(Role::Primary);
    models.live.set_role(Role::Primary);
    let told = |problem: String| format!("{} after {steps:#?}\n{problem}", server.name);
    models.tick(now_ms(&admin.ask(&time))).map_err(told)?;
    compare::data(&mut admin, &models.memoised).map_err(told)?;
    models.check_replica().map_err(told)
}

fn reset(admin: &mut Client) {
    admin.words(["REPLICAOF", "NO", "ONE"]);
    // Redis 6.2 remembers whether memory was short for the last script.
    admin.words(["CONFIG", "SET", "maxmemory", "1000000000000"]);
    admin.words(["EVAL", "return 1", "0"]);
    admin.words(["CONFIG", "SET", "maxmemory", "0"]);
    admin.words(["CONFIG", "SET", "maxmemory-policy", "noeviction"]);
    admin.words(["CONFIG", "SET", "min-replicas-to-write", "0"]);
    admin.words(["FLUSHALL"]);
    admin.words(["SCRIPT", "FLUSH"]);
}

pub(crate) fn now_ms(time: &Reply) -> i64 {
    let Reply::Array(parts) = time else {
        panic!("TIME answers {time}");
    };
    let part = |at: usize| match &parts[at] {
        Reply::Bulk(text) => text.lossy().parse::<i64>().expect("a number"),
        other => panic!("TIME holds {other}"),
    };
    part(0) * 1_000 + part(1) / 1_000
}
