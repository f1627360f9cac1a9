//! One client process: real client code, and what it has on the wire.

use super::fleet::ServerNumber;
use super::line::Line;
use crate::process::{Break, Input, Lane, Live, Outcome, Pending};
use crate::scenario::Scenario;
use crate::server::Reply;
use crate::world::Attempted;

/// A process, with its connections.
pub(super) struct Client {
    class: usize,
    live: Live,
    /// For each of its clients the attempts that it has begun, and whether it is at one.
    clients: Vec<(u32, bool)>,
    /// What each client's attempt did so far.
    pub(super) attempted: Vec<Attempted>,
    links: Vec<Link>,
    held: Vec<Held>,
    /// What its clock shows more than the others, in milliseconds.
    pub(super) offset_ms: i64,
    pub(super) crashed: bool,
}

/// A connection, as the network sees it.
#[derive(Default)]
pub(super) enum Link {
    /// Not opened: the next request opens it.
    #[default]
    Fresh,
    /// Open, to a server that takes writes or, without a number, to the one that is read.
    Open(Line, Option<ServerNumber>),
    /// Broken: the next request fails, and the one after that opens a new connection.
    Broken,
}

/// A reply that the client has not seen yet.
struct Held {
    ticket: u32,
    connection: usize,
    answer: Result<Reply, Break>,
}

/// What a turn of a process did.
pub(super) struct Turn {
    /// Who was told before the end of an attempt that the work may go ahead.
    pub(super) went_ahead: Option<usize>,
    pub(super) ended: Vec<(usize, Outcome)>,
    pub(super) read_clock: bool,
}

impl Client {
    pub(super) fn start(scenario: &Scenario, class: usize) -> Self {
        let parameters = &scenario.parameters;
        let clients = scenario.subject.clients_per_process(parameters);
        Self {
            class,
            live: Live::start(&*scenario.subject, class, parameters),
            clients: vec![(0, false); clients],
            attempted: vec![Attempted::default(); clients],
            links: Vec::new(),
            held: Vec::new(),
            offset_ms: 0,
            crashed: false,
        }
    }

    /// Begins anew with nothing of what it had in memory.
    pub(super) fn reboot(&mut self, scenario: &Scenario) {
        let (clients, offset_ms) = (std::mem::take(&mut self.clients), self.offset_ms);
        *self = Self::start(scenario, self.class);
        (self.clients, self.offset_ms) = (clients, offset_ms);
    }

    /// Lets `input` cross into the process, whose clock shows `now`.
    pub(super) fn turn(&mut self, scenario: &Scenario, input: &Input, now: u64) -> Turn {
        let readings = self.live.turn(input, now, []);
        if let Input::Start { client, attempt } = input {
            self.clients[*client] = (attempt + 1, true);
        }
        let went_ahead = self.live.went_ahead();
        let ended = self.live.ended().to_vec();
        for (client, _) in &ended {
            self.clients[*client].1 = false;
        }
        let keeps_nothing = self.clients.len() == 1 && !scenario.subject.keeps_state();
        let idle = self.live.pending().is_empty() && self.live.timers().is_empty();
        if keeps_nothing && idle && !ended.is_empty() {
            // As in the model: what one attempt leaves in memory does not reach the next.
            self.live = Live::start(&*scenario.subject, self.class, &scenario.parameters);
        }
        Turn {
            went_ahead,
            ended,
            read_clock: !readings.is_empty(),
        }
    }

    /// What it can do next.
    pub(super) fn lanes(&self, scenario: &Scenario) -> Vec<Lane> {
        self.live.lanes(&self.clients, scenario.parameters.attempts)
    }

    /// How many attempts its first client has begun.
    pub(super) fn begun(&self) -> u32 {
        self.clients[0].0
    }

    /// Whether an earlier reply on the same connection is still on its way.
    pub(super) fn waits(&self, pending: &Pending) -> bool {
        let mut held = self.held.iter();
        held.any(|held| held.connection == pending.connection)
    }

    pub(super) fn endpoint(&self, connection: usize) -> crate::process::Endpoint {
        self.live.seam().endpoints()[connection]
    }

    pub(super) fn due_timer(&self, now: u64) -> Option<u32> {
        let timers = self.live.timers();
        let due = timers.iter().find(|(_, due)| *due <= now);
        due.map(|(timer, _)| *timer)
    }

    pub(super) fn link(&mut self, connection: usize) -> &mut Link {
        if self.links.len() <= connection {
            self.links.resize_with(connection + 1, Link::default);
        }
        &mut self.links[connection]
    }

    pub(super) fn hold(&mut self, pending: &Pending, reply: Reply) {
        self.held.push(Held {
            ticket: pending.ticket,
            connection: pending.connection,
            answer: Ok(reply),
        });
    }

    /// The reply that arrives next.
    pub(super) fn arriving(&mut self) -> Option<Input> {
        if self.held.is_empty() {
            return None;
        }
        let Held { ticket, answer, .. } = self.held.remove(0);
        Some(match answer {
            Ok(reply) => Input::Reply { ticket, reply },
            Err(why) => Input::Broken { ticket, why },
        })
    }

    /// Its connections to this server are broken: it learns at its next command, or where it waits
    /// for a reply.
    pub(super) fn break_links(&mut self, server: ServerNumber) {
        for (connection, link) in self.links.iter_mut().enumerate() {
            if !matches!(link, Link::Open(_, Some(to)) if *to == server) {
                continue;
            }
            *link = Link::Broken;
            let waiting = self.held.iter_mut();
            for held in waiting.filter(|held| held.connection == connection) {
                held.answer = Err(Break::Closed);
                *link = Link::Fresh;
            }
        }
    }

    /// Ends for good.
    pub(super) fn crash(&mut self) -> Vec<Attempted> {
        self.crashed = true;
        self.held.clear();
        self.links.clear();
        std::mem::take(&mut self.attempted)
    }
}
