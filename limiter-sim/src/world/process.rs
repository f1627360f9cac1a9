//! A client process in the world.

use std::rc::Rc;

use smallvec::SmallVec;

use super::World;
use super::ledger::Attempted;
use crate::fingerprint::Digest;
use crate::process::{Automaton, Break, Position, Ticket};
use crate::server::{ConnectionId, Reply};

/// One client process in one state.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(super) position: Position,
    pub(super) digest: Digest,
    /// What each client's attempt did so far.
    pub(super) attempted: SmallVec<[Attempted; 1]>,
    pub(super) links: SmallVec<[Link; 1]>,
    /// Replies that are on their way, each with the request that it answers.
    pub(super) held: SmallVec<[Held; 1]>,
    /// What its clock shows more than the reference clock, in milliseconds.
    pub(super) offset_ms: i64,
    pub(super) crashed: bool,
    open: bool,
}

/// A connection, as the network sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Link {
    /// Not opened: the next request opens it.
    #[default]
    Fresh,
    /// To a server that takes writes.
    Open(usize),
    /// To the replica.
    ToReplica,
    /// Broken: the next request fails, and the one after that opens a new connection.
    Broken,
}

/// A reply that the client has not seen yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub(super) ticket: Ticket,
    pub(super) connection: usize,
    pub(super) answer: Result<Reply, Break>,
}

/// Connections that one process can have.
const MAX_CONNECTIONS: usize = 256;

/// The number by which servers know a connection.
pub(super) fn connection_id(process: usize, connection: usize) -> ConnectionId {
    assert!(
        connection < MAX_CONNECTIONS,
        "at most {MAX_CONNECTIONS} connections in a process"
    );
    ConnectionId::try_from(process * MAX_CONNECTIONS + connection).expect("at most 64 processes")
}

impl Process {
    pub(super) fn new(position: Position, clients: usize) -> Self {
        Self {
            position,
            digest: Digest::default(),
            attempted: SmallVec::from_elem(Attempted::default(), clients),
            links: SmallVec::new(),
            held: SmallVec::new(),
            offset_ms: 0,
            crashed: false,
            open: false,
        }
    }

    pub(super) fn link(&mut self, connection: usize) -> &mut Link {
        if self.links.len() <= connection {
            self.links.resize(connection + 1, Link::Fresh);
        }
        &mut self.links[connection]
    }

    /// Takes the place of `old` among those that can go on.
    pub(super) fn inherit(&mut self, old: &Self) {
        self.digest = old.digest;
        self.open = old.open;
    }

    /// The process's own time when the reference clock shows `now`.
    pub(super) fn own_time(&self, now: u64) -> u64 {
        now.saturating_add_signed(self.offset_ms)
    }
}

impl World {
    /// Brings a process's digest, and the world's, up to date.
    pub(super) fn refresh(&mut self, automaton: &Automaton, number: usize) {
        let process = &self.processes[number];
        let lanes = automaton.lanes_at(process.position);
        let has_next = !lanes.is_empty() || !process.held.is_empty();
        let open = has_next && !process.crashed;
        let digest = if open || automaton.keeps_state() {
            self.process_digest(automaton, number)
        } else {
            // Who is done is nobody's business any more: not how it ended, which the ledger knows,
            // nor what became of its connections.
            Digest::of(&"done")
        };
        let process = Rc::make_mut(&mut self.processes[number]);
        if !open && !automaton.keeps_state() {
            process.links.clear();
        }
        self.processes_digest = self.processes_digest.without(process.digest).with(digest);
        process.digest = digest;
        self.open = self.open + usize::from(open) - usize::from(process.open);
        process.open = open;
    }

    fn process_digest(&self, automaton: &Automaton, number: usize) -> Digest {
        let process = &self.processes[number];
        let sessions = process
            .links
            .iter()
            .enumerate()
            .map(|(connection, link)| match link {
                Link::Open(slot) if self.slots[*slot].node().has_sessions() => self.slots[*slot]
                    .node()
                    .session_hash(connection_id(number, connection)),
                _ => 0,
            });
        Digest::of(&(
            automaton.digest(process.position).0,
            &process.attempted,
            &process.links,
            sessions.collect::<SmallVec<[u128; 1]>>(),
            &process.held,
            process.offset_ms,
            process.crashed,
        ))
    }

    /// Puts a process in the place of one that it has become.
    pub(super) fn replace(&mut self, number: usize, process: Rc<Process>) {
        let old = &self.processes[number];
        self.processes_digest = self
            .processes_digest
            .without(old.digest)
            .with(process.digest);
        self.open = self.open + usize::from(process.open) - usize::from(old.open);
        self.processes[number] = process;
    }

    /// Brings the digests of all processes up to date that a change of the servers can have changed:
    /// those of which a server remembers something.
    pub(super) fn refresh_all(&mut self, automaton: &Automaton) {
        if !self.slots.iter().any(|slot| slot.node().has_sessions()) {
            return;
        }
        for number in 0..self.processes.len() {
            self.refresh(automaton, number);
        }
    }

    /// A process, to change it.
    pub(super) fn process(&mut self, number: usize) -> &mut Process {
        Rc::make_mut(&mut self.processes[number])
    }
}
