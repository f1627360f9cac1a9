//! Client code, learned.
//!
//! A process is a deterministic function of what crossed its seam. So the code runs once for each
//! distinct record, and the search walks what it learned: a tree whose nodes are records and whose
//! edges are inputs. Where the tree ends, a live process is rebuilt by feeding it the record, every
//! request it makes on the way is checked against the one that it made before, and one new edge is
//! learned from it.

use std::collections::HashMap;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Outcome;
use super::input::{Input, Ticket};
use super::live::{Lane, Live};
use super::seam::Endpoint;
use crate::fingerprint::{Digest, Keyed};
use crate::scenario::Parameters;
use crate::subject::Subject;

/// A node of the tree: one record of one kind of process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Position(u32);

#[derive(Debug)]
struct Node {
    parent: Option<(Position, Input)>,
    /// Which kind of process.
    class: usize,
    digest: Digest,
    /// The code waits in the middle of a turn for a reading of the clock.
    reads_clock: bool,
    lanes: Arc<[Lane]>,
    timers: Arc<[(Ticket, u64)]>,
    endpoints: Arc<[Endpoint]>,
    /// Attempts that ended by the input that led here.
    ended: SmallVec<[(usize, Outcome); 1]>,
    /// The client that was told, by the input that led here, that it may go ahead.
    went_ahead: Option<usize>,
    /// For each client, the attempts that it has begun, and whether it is at one.
    clients: SmallVec<[(u32, bool); 1]>,
    /// Where a process without shared state goes on from here: the same for all records that ended
    /// the same attempt with the same outcome.
    rest: Option<Position>,
}

/// Everything learned about the processes of one exploration.
pub(crate) struct Automaton {
    subject: Arc<dyn Subject>,
    parameters: Parameters,
    clients: usize,
    forgets: bool,
    nodes: Vec<Node>,
    edges: HashMap<(Position, Input), Position, Keyed>,
    roots: HashMap<(usize, u32, Option<Outcome>), Position, Keyed>,
    live: HashMap<Position, Live, Keyed>,
    /// How often client code really ran.
    pub(crate) turns: u64,
}

/// Live processes kept for the next edge that grows from where they stand.
const MAX_LIVE: usize = 256;

impl Automaton {
    pub(crate) fn new(subject: Arc<dyn Subject>, parameters: Parameters) -> Self {
        let clients = subject.clients_per_process(&parameters);
        let forgets = clients == 1 && !subject.keeps_state();
        Self {
            subject,
            parameters,
            clients,
            forgets,
            nodes: Vec::new(),
            edges: HashMap::with_hasher(Keyed),
            roots: HashMap::with_hasher(Keyed),
            live: HashMap::with_hasher(Keyed),
            turns: 0,
        }
    }

    /// Clients in one process.
    pub(crate) fn clients(&self) -> usize {
        self.clients
    }

    /// Whether processes keep state from one attempt to the next.
    pub(crate) fn keeps_state(&self) -> bool {
        !self.forgets
    }

    /// Where worker process `worker` begins. Processes of one class begin in the same position.
    pub(crate) fn root(&mut self, worker: usize) -> Position {
        let class = self.subject.class(worker, &self.parameters);
        self.rest(class, 0, None)
    }

    /// The position of a process that is between attempts and keeps nothing from the last one but
    /// how it ended.
    fn rest(&mut self, class: usize, attempts: u32, outcome: Option<Outcome>) -> Position {
        if let Some(position) = self.roots.get(&(class, attempts, outcome)) {
            return *position;
        }
        let live = self.spawn(class);
        let clients = SmallVec::from_elem((attempts, false), self.clients);
        let node = Node {
            parent: None,
            class,
            digest: Digest::of(&("rest", class, attempts, outcome)),
            reads_clock: false,
            lanes: self.lanes(&live, &clients),
            timers: live.timers().into(),
            endpoints: live.seam().endpoints().into(),
            ended: SmallVec::new(),
            went_ahead: None,
            clients,
            rest: None,
        };
        let position = self.push(node);
        self.roots.insert((class, attempts, outcome), position);
        self.keep(position, live);
        position
    }

    pub(crate) fn digest(&self, at: Position) -> Digest {
        self.node(at).digest
    }

    pub(crate) fn lanes_at(&self, at: Position) -> &Arc<[Lane]> {
        &self.node(at).lanes
    }

    pub(crate) fn timers_at(&self, at: Position) -> &[(Ticket, u64)] {
        &self.node(at).timers
    }

    pub(crate) fn endpoint(&self, at: Position, connection: usize) -> Endpoint {
        self.node(at).endpoints[connection]
    }

    /// The attempts that ended by the input that led to `at`.
    pub(crate) fn ended(&self, at: Position) -> &[(usize, Outcome)] {
        &self.node(at).ended
    }

    /// The client that was told, by the input that led to `at`, that it may go ahead.
    pub(crate) fn went_ahead(&self, at: Position) -> Option<usize> {
        self.node(at).went_ahead
    }

    /// Where a process is that has made all its attempts, and `more` of them.
    pub(crate) fn fresh(&mut self, more: u32) -> Position {
        let class = self.subject.class(0, &self.parameters);
        self.rest(class, self.parameters.attempts + more, None)
    }

    /// How many attempts a client has begun.
    pub(crate) fn begun(&self, at: Position, client: usize) -> u32 {
        self.node(at).clients[client].0
    }

    /// Whether any client has begun an attempt.
    pub(crate) fn has_begun(&self, at: Position) -> bool {
        self.node(at).clients.iter().any(|(begun, _)| *begun > 0)
    }

    /// Where a process begins anew, with nothing of what it had in memory, after as many attempts.
    pub(crate) fn reborn(&mut self, at: Position) -> Position {
        let (class, begun) = (self.node(at).class, self.node(at).clients[0].0);
        self.rest(class, begun, None)
    }

    /// Whether a client is in the middle of an attempt.
    pub(crate) fn is_busy(&self, at: Position) -> bool {
        self.node(at).clients.iter().any(|(_, busy)| *busy)
    }

    /// Whether this client is in the middle of an attempt.
    pub(crate) fn is_at_work(&self, at: Position, client: usize) -> bool {
        self.node(at).clients[client].1
    }

    /// The position that a process goes on from after `at`, once what ended there is told.
    pub(crate) fn settled(&self, at: Position) -> Position {
        self.node(at).rest.unwrap_or(at)
    }

    /// Whether the last turn that led to `at` read the clock.
    pub(crate) fn read_clock(&self, at: Position) -> bool {
        matches!(self.node(at).parent, Some((_, Input::Clock(_))))
    }

    /// Lets `input` cross into a process at `from`, whose clock shows `now`.
    pub(crate) fn advance(&mut self, from: Position, input: Input, now: u64) -> Position {
        let edge = (from, input);
        let Some(&(mut next)) = self.edges.get(&edge) else {
            return self.learn(from, edge.1, now);
        };
        while self.node(next).reads_clock {
            match self.edges.get(&(next, Input::Clock(now))) {
                Some(&after) => next = after,
                None => return self.learn(from, edge.1, now),
            }
        }
        next
    }

    /// Runs the code from `from` with the input of one turn, and adds what it did to the tree.
    fn learn(&mut self, from: Position, turn: Input, now: u64) -> Position {
        let mut live = match self.live.remove(&from) {
            Some(live) => live,
            None => self.rebuild(from),
        };
        self.turns += 1;
        let readings = live.turn(&turn, now, []);
        let mut position = from;
        let mut input = turn.clone();
        for reading in readings {
            position = self.child(position, &input, None);
            self.nodes[position.0 as usize].reads_clock = true;
            input = reading;
        }
        let position = self.child(position, &input, Some((&live, &turn)));
        if self.node(position).rest.is_none() {
            self.keep(position, live);
        }
        position
    }

    /// The child of `from` by `input`; made if it is missing, and completed from `live` if the turn
    /// ends with it.
    fn child(&mut self, from: Position, input: &Input, live: Option<(&Live, &Input)>) -> Position {
        let position = match self.edges.get(&(from, input.clone())) {
            Some(position) => *position,
            None => {
                let node = Node {
                    parent: Some((from, input.clone())),
                    class: self.node(from).class,
                    digest: Digest::of(&(self.node(from).digest, input)),
                    reads_clock: false,
                    lanes: Arc::from([]),
                    timers: Arc::from([]),
                    endpoints: Arc::from([]),
                    ended: SmallVec::new(),
                    went_ahead: None,
                    clients: self.node(from).clients.clone(),
                    rest: None,
                };
                let position = self.push(node);
                self.edges.insert((from, input.clone()), position);
                position
            }
        };
        if let Some((live, turn)) = live {
            self.complete(position, live, turn);
        }
        position
    }

    fn complete(&mut self, position: Position, live: &Live, turn: &Input) {
        let mut clients = self.node(position).clients.clone();
        if let Input::Start { client, attempt } = turn {
            clients[*client] = (attempt + 1, true);
        }
        for (client, _) in live.ended() {
            clients[*client].1 = false;
        }
        let lanes = self.lanes(live, &clients);
        let idle = live.pending().is_empty() && live.timers().is_empty();
        let rest = match live.ended() {
            [(_, outcome)] if self.forgets && idle => {
                Some(self.rest(self.node(position).class, clients[0].0, Some(*outcome)))
            }
            _ => None,
        };
        let node = &mut self.nodes[position.0 as usize];
        node.lanes = lanes;
        node.timers = live.timers().into();
        node.endpoints = live.seam().endpoints().into();
        node.ended = live.ended().into();
        node.went_ahead = live.went_ahead();
        node.clients = clients;
        node.rest = rest;
    }

    fn lanes(&self, live: &Live, clients: &[(u32, bool)]) -> Arc<[Lane]> {
        live.lanes(clients, self.parameters.attempts).into()
    }

    fn spawn(&self, class: usize) -> Live {
        Live::start(&*self.subject, class, &self.parameters)
    }

    /// A fresh process, fed with the record that leads to `to`.
    ///
    /// # Panics
    /// Where it does something else than it did before: client code that is not a function of what
    /// crosses its seam cannot be explored.
    fn rebuild(&mut self, to: Position) -> Live {
        let mut record = Vec::new();
        let mut at = to;
        while let Some((parent, input)) = &self.node(at).parent {
            record.push((input.clone(), at));
            at = *parent;
        }
        record.reverse();
        let mut live = self.spawn(self.node(to).class);
        let mut steps = record.into_iter().peekable();
        while let Some((input, mut reached)) = steps.next() {
            let mut recorded = Vec::new();
            while let Some((reading, position)) =
                steps.next_if(|(input, _)| matches!(input, Input::Clock(_)))
            {
                recorded.push(reading);
                reached = position;
            }
            self.turns += 1;
            live.turn(&input, 0, recorded);
            let lanes = self.lanes(&live, &self.node(reached).clients);
            assert!(
                lanes == self.node(reached).lanes,
                "drift: rebuilt client code did not repeat what it did: {lanes:?} where {:?} was recorded",
                self.node(reached).lanes,
            );
            assert!(
                live.ended() == &self.node(reached).ended[..],
                "drift: rebuilt client code did not end as it did: {:?} where {:?} was recorded",
                live.ended(),
                self.node(reached).ended,
            );
        }
        live
    }

    fn keep(&mut self, position: Position, live: Live) {
        if self.live.len() >= MAX_LIVE {
            self.live.clear();
        }
        self.live.insert(position, live);
    }

    fn push(&mut self, node: Node) -> Position {
        let position = u32::try_from(self.nodes.len()).expect("fewer than 2^32 records");
        self.nodes.push(node);
        Position(position)
    }

    fn node(&self, at: Position) -> &Node {
        &self.nodes[at.0 as usize]
    }
}
