//! The world of a running script: the node that it talks to, and the protocol of the talk.

use std::cell::RefCell;
use std::rc::Rc;

use super::RandomState;
use super::call::{Answer, Ask};
use crate::server::node::Node;
use crate::server::session::ConnectionId;
use crate::server::{Bytes, Version};

/// One exchange between a script and the server.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) ask: Ask,
    pub(crate) answer: Answer,
    /// Keys of the command that the script had not declared.
    pub(crate) undeclared: Vec<Bytes>,
}

/// Where an error was raised, and what it says.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// `source:line` of the nearest Lua function, if there is one.
    pub(crate) source: Option<String>,
}

/// What kind of value was raised.
#[derive(Clone, Debug)]
pub(crate) enum FaultKind {
    /// A string.
    Text(Vec<u8>),
    /// A table with an `err` field.
    ErrTable(Vec<u8>),
    /// A value of this type without such a field, and how it prints.
    Other(&'static str, Vec<u8>),
    /// The instruction limit was reached.
    Endless,
}

/// Shared between the engine and the functions that it gave to Lua.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) version: Version,
    pub(crate) node: Option<Node>,
    pub(crate) connection: ConnectionId,
    /// What the server has answered in this run already: it is told again, not executed again.
    pub(crate) known: Vec<Answer>,
    pub(crate) log: Vec<Exchange>,
    pub(crate) declared: Vec<Bytes>,
    /// The random state of a single run (Redis 6.2).
    pub(crate) random: RandomState,
    pub(crate) instructions_left: u32,
    pub(crate) fault: Option<Fault>,
    pub(crate) unmodelled: Option<String>,
}

pub(crate) type SharedHost = Rc<RefCell<Host>>;

impl Host {
    pub(crate) fn new(version: Version) -> Self {
        Self {
            version,
            node: None,
            connection: 0,
            known: Vec::new(),
            log: Vec::new(),
            declared: Vec::new(),
            random: RandomState::default(),
            instructions_left: 0,
            fault: None,
            unmodelled: None,
        }
    }

    /// Asks the server, or remembers what it answered.
    pub(crate) fn ask(&mut self, ask: Ask) -> Answer {
        let at = self.log.len();
        let undeclared = self.undeclared(&ask);
        let answer = match (self.known.get(at), &mut self.node) {
            (Some(answer), _) => answer.clone(),
            (None, Some(node)) => perform_undeclared(&ask, &undeclared, node, self.connection),
            (None, None) => Answer::Refused("ERR the script runs outside of a node".into()),
        };
        self.log.push(Exchange {
            ask,
            answer: answer.clone(),
            undeclared,
        });
        answer
    }

    fn undeclared(&self, ask: &Ask) -> Vec<Bytes> {
        let Ask::Command(request) = ask else {
            return Vec::new();
        };
        let Some(command) = request.command() else {
            return Vec::new();
        };
        let keys = command.keys(request.argv());
        keys.filter(|key| !self.declared.contains(key))
            .cloned()
            .collect()
    }

    /// 31 random bits.
    pub(crate) fn draw(&mut self) -> i64 {
        if self.version == Version::Redis62 {
            return self.random.draw();
        }
        match self.ask(Ask::Random) {
            Answer::Reply(crate::server::Reply::Int(bits)) => bits,
            _ => 0,
        }
    }

    pub(crate) fn seed(&mut self, seed: i32) {
        if self.version == Version::Redis62 {
            self.random = RandomState::seeded(seed);
        } else {
            self.ask(Ask::Seed(seed));
        }
    }

    pub(crate) fn note_unmodelled(&mut self, what: &str) {
        if self.unmodelled.is_none() {
            self.unmodelled = Some(what.into());
        }
    }
}

/// Performs what touches keys that the script did not declare: a cluster refuses it.
pub(crate) fn perform_undeclared(
    ask: &Ask,
    keys: &[Bytes],
    node: &mut Node,
    connection: ConnectionId,
) -> Answer {
    for key in keys {
        node.note_undeclared(key);
    }
    if node.config().cluster && !keys.is_empty() {
        return Answer::Refused(
            "ERR Script attempted to access a non local key in a cluster node".into(),
        );
    }
    ask.perform(node, connection)
}
