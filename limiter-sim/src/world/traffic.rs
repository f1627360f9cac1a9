//! Requests and replies on their way.

use std::rc::Rc;
use std::sync::Arc;

use super::ledger::{Attempted, Booking};
use super::process::{Held, Link, connection_id};
use super::simulation::Simulation;
use super::{Fault, Way, World};
use crate::process::{Break, Endpoint, Input, Lane, Outcome, Pending, Position};
use crate::server::{Effect, Node, Reply};

/// Notes that are kept.
const MOST_NOTES: usize = 8;

impl Simulation {
    /// A process takes one of the things that it can do next.
    pub(super) fn go(&mut self, world: &mut World, number: usize, lane: usize, way: Way) {
        let position = world.processes[number].position;
        let lane = self.automaton.lanes_at(position)[lane].clone();
        let pending = match lane {
            Lane::Send(pending) => pending,
            Lane::Start { client, attempt } => {
                let start = Input::Start { client, attempt };
                let own = world.processes[number].own_time(world.now);
                let position = self.automaton.advance(position, start, own);
                self.come_to(world, number, position);
                match self.sent_at_once(position) {
                    Some(pending) => pending,
                    None => return,
                }
            }
        };
        self.send(world, number, pending, way);
    }

    /// The request that goes out in the same step in which its attempt begins. Nobody can tell when
    /// a request was made, only when it is executed. But whoever has read the clock can be overtaken
    /// by time, so that is a step of its own.
    pub(super) fn sent_at_once(&self, position: Position) -> Option<Pending> {
        if self.automaton.read_clock(position) {
            return None;
        }
        match &self.automaton.lanes_at(position)[..] {
            [Lane::Send(pending)] => Some(pending.clone()),
            _ => None,
        }
    }

    fn send(&mut self, world: &mut World, number: usize, mut pending: Pending, way: Way) {
        loop {
            let (connection, ticket) = (pending.connection, pending.ticket);
            let link = world.process(number).link(connection);
            if *link == Link::Broken {
                *link = Link::Fresh;
                self.tell(world, number, &pending, None);
                return self.answer(world, number, ticket, Err(Break::Closed));
            }
            if way == Way::LostRequest {
                self.bite(Fault::LostRequest);
                self.tell(world, number, &pending, None);
                return self.answer(world, number, ticket, Err(Break::TimedOut));
            }
            if way == Way::ToOld && *link == Link::Fresh {
                *link = Link::Open(0);
            }
            let (reply, in_session) = self.execute(world, number, &pending);
            self.tell(world, number, &pending, Some(&reply));
            match way {
                Way::LostReply => {
                    self.bite(Fault::LostReply);
                    return self.answer(world, number, ticket, Err(Break::TimedOut));
                }
                Way::LateReply => {
                    self.bite(Fault::LateReply);
                    world.process(number).held.push(Held {
                        ticket,
                        connection,
                        answer: Ok(reply),
                    });
                    return world.refresh(&self.automaton, number);
                }
                Way::Crash => return self.crash(world, number),
                Way::Through | Way::ToOld | Way::LostRequest => {}
            }
            self.answer(world, number, ticket, Ok(reply));
            // What only changes the session cannot be told apart by others: the rest of a pipeline
            // follows in the same step.
            match self.next_of_pipeline(world, number, ticket) {
                Some(next) if in_session => pending = next,
                _ => return,
            }
        }
    }

    /// The request that was made together with the one that was just answered.
    fn next_of_pipeline(&self, world: &World, number: usize, ticket: u32) -> Option<Pending> {
        let lanes = self.automaton.lanes_at(world.processes[number].position);
        lanes.iter().find_map(|lane| match lane {
            Lane::Send(pending) if pending.ticket == ticket + 1 => Some(pending.clone()),
            _ => None,
        })
    }

    fn tell(&mut self, _: &World, _: usize, pending: &Pending, reply: Option<&Reply>) {
        let exchange = (Arc::clone(&pending.request), reply.cloned());
        Rc::make_mut(&mut self.happened).exchanges.push(exchange);
    }

    /// A server executes a request. Also says whether nothing but the session changed.
    fn execute(&mut self, world: &mut World, number: usize, pending: &Pending) -> (Reply, bool) {
        let position = world.processes[number].position;
        match self.automaton.endpoint(position, pending.connection) {
            Endpoint::Primary => self.execute_on_primary(world, number, pending),
            Endpoint::Replica => (self.execute_on_replica(world, number, pending), false),
        }
    }

    fn execute_on_primary(
        &mut self,
        world: &mut World,
        number: usize,
        pending: &Pending,
    ) -> (Reply, bool) {
        let primary = world.primary;
        let id = connection_id(number, pending.connection);
        let link = world.process(number).link(pending.connection);
        if *link == Link::Fresh {
            *link = Link::Open(primary);
        }
        let Link::Open(slot) = *link else {
            unreachable!("a connection to the primary is never one to a replica")
        };
        let (reply, in_session, wrote) = world.slots[slot].change(|node| {
            let acknowledged = node.acknowledged();
            let reply = node.execute(id, &pending.request);
            let acknowledges = node.acknowledged() != acknowledged;
            let wrote = node.has_effects();
            // Scripts are cached without an effect on data, so reads can change the node as well.
            (
                (reply, node.is_in_transaction(id), wrote),
                wrote || acknowledges || pending.request.can_cache_scripts(),
            )
        });
        self.note_trouble(world.slots[slot].node(), &reply, wrote);
        self.note_bites(world, slot, &reply);
        self.carry(world, slot);
        self.record(world, number, pending, &reply, wrote);
        if wrote && world.slots[slot].node().has_sessions() {
            // Whoever watches what was written has been noticed.
            world.refresh_all(&self.automaton);
        }
        (reply, in_session)
    }

    /// Keeps what the server said that is no answer. A command that the model lacks, or a script that
    /// never returns, makes every answer after it worthless.
    fn note_trouble(&mut self, node: &Node, reply: &Reply, wrote: bool) {
        if let Some(what) = node.unmodelled().first() {
            let trouble = format!("the modelled server does not know this: {what}");
            self.trouble.get_or_insert(trouble);
        }
        if let Some(keys) = node.undeclared_keys().first() {
            self.note(format!(
                "the script touched a key that it did not declare: {keys}"
            ));
        }
        let Some(error) = reply.as_error() else {
            return;
        };
        let text = error.lossy();
        match text.strip_prefix("MODEL ") {
            Some(trouble) => {
                self.trouble.get_or_insert(trouble.to_owned());
            }
            None if text.starts_with("NOSCRIPT") => {}
            None if wrote => self.note(format!(
                "the server answered with an error, and what had been written before it stays: {text}"
            )),
            None => self.note(format!("the server answered: {text}")),
        }
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MOST_NOTES {
            self.notes.insert(note);
        }
    }

    fn note_bites(&mut self, world: &World, slot: usize, reply: &Reply) {
        if slot != world.primary {
            self.bite(Fault::SplitBrain);
        }
        if world.faults.total() == 0 {
            return;
        }
        if let Some(error) = reply.as_error() {
            let text = error.lossy();
            if text.contains("OOM") && world.faults.of(Fault::OutOfMemory) > 0 {
                self.bite(Fault::OutOfMemory);
            }
            if text.starts_with("NOSCRIPT") && world.faults.of(Fault::ScriptFlush) > 0 {
                self.bite(Fault::ScriptFlush);
            }
        }
    }

    fn execute_on_replica(&mut self, world: &mut World, number: usize, pending: &Pending) -> Reply {
        *world.process(number).link(pending.connection) = Link::ToReplica;
        let id = connection_id(number, pending.connection);
        let replica = world
            .replica
            .as_mut()
            .expect("the subject says that it reads a replica");
        let replica = Arc::make_mut(replica);
        if !replica.backlog.is_empty() {
            self.bite(Fault::StaleRead);
        }
        replica.slot.change(|node| {
            node.connect(id);
            (node.execute(id, &pending.request), true)
        })
    }

    /// Carries a server's effects to its log and to the replica.
    pub(super) fn carry(&mut self, world: &mut World, slot: usize) {
        if !world.slots[slot].node().has_effects() {
            return;
        }
        let effects = world.slots[slot].change(|node| (node.take_effects(), false));
        if slot != world.primary {
            // An old primary's writes are lost when it learns; nobody receives them.
            return;
        }
        let effects: Rc<[Effect]> = effects.into();
        self.memo.effects.push(Rc::clone(&effects));
        let now = world.now;
        if let Some(log) = &mut world.log {
            log.push(Rc::clone(&effects), now);
        }
        if let Some(replica) = &mut world.replica {
            let replica = Arc::make_mut(replica);
            if replica.stalled {
                replica.backlog.extend(effects.iter().cloned());
            } else {
                replica.receive(&effects);
            }
        }
    }

    /// Keeps what the judges need to know of an executed request.
    fn record(
        &mut self,
        world: &mut World,
        number: usize,
        pending: &Pending,
        reply: &Reply,
        wrote: bool,
    ) {
        let parameters = &self.scenario.parameters;
        let charged = self
            .scenario
            .subject
            .charges(&pending.request, reply, parameters);
        let now = world.now;
        if let Some(client) = pending.client {
            let moment = world.ledger.moment(now);
            let attempted = &mut world.process(number).attempted[client];
            if let Some(admitted_at) = attempted.told_at
                && charged < 0
            {
                let units = charged.unsigned_abs();
                return self.book(world, Booking::GivenBack { units, admitted_at });
            }
            if wrote {
                attempted.wrote_at = Some(moment);
            }
            attempted.charged += charged;
            if charged > 0 {
                attempted.charged_at = Some(now);
            }
        }
    }

    /// An answer reaches its client.
    pub(super) fn answer(
        &mut self,
        world: &mut World,
        number: usize,
        ticket: u32,
        answer: Result<Reply, Break>,
    ) {
        let input = match answer {
            Ok(reply) => Input::Reply { ticket, reply },
            Err(why) => Input::Broken { ticket, why },
        };
        let process = &world.processes[number];
        let own = process.own_time(world.now);
        let position = self.automaton.advance(process.position, input, own);
        self.come_to(world, number, position);
    }

    pub(super) fn deliver_held(&mut self, world: &mut World, number: usize) {
        let held = world.process(number).held.remove(0);
        self.answer(world, number, held.ticket, held.answer);
    }

    /// A process has come to `position`: settles what ended there.
    pub(super) fn come_to(&mut self, world: &mut World, number: usize, position: Position) {
        if let Some(client) = self.automaton.went_ahead(position) {
            let now = world.now;
            let attempted = &mut world.process(number).attempted[client];
            let told_at = Some(attempted.admitted_at(now));
            let attempted = std::mem::replace(
                attempted,
                Attempted {
                    told_at,
                    ..Attempted::default()
                },
            );
            self.settle(world, client, attempted, Outcome::Admitted);
        }
        for (client, outcome) in self.automaton.ended(position).to_vec() {
            let attempted = std::mem::take(&mut world.process(number).attempted[client]);
            self.settle(world, client, attempted, outcome);
        }
        world.process(number).position = self.automaton.settled(position);
        world.refresh(&self.automaton, number);
    }

    fn settle(&mut self, world: &mut World, client: usize, attempted: Attempted, told: Outcome) {
        self.book(world, Booking::Settled(attempted, told));
        // Who went ahead was told so before.
        if attempted.told_at.is_none() {
            let happened = Rc::make_mut(&mut self.happened);
            happened.outcomes.push((client, told));
        }
    }

    fn book(&mut self, world: &mut World, booking: Booking) {
        let cost = self.scenario.parameters.cost;
        world.ledger.book(booking, cost, world.now);
        self.memo.bookings.push(booking);
    }

    /// A process ends for good. Whatever its clients had charged, nobody is told.
    pub(super) fn crash(&mut self, world: &mut World, number: usize) {
        self.bite(Fault::ClientCrash);
        let cost = self.scenario.parameters.cost;
        let process = world.process(number);
        process.crashed = true;
        process.held.clear();
        let links = std::mem::take(&mut process.links);
        for attempted in std::mem::take(&mut process.attempted) {
            world.ledger.settle(attempted, None, cost, world.now);
        }
        for (connection, link) in links.into_iter().enumerate() {
            if let Link::Open(slot) = link {
                let id = connection_id(number, connection);
                world.slots[slot].change(|node| (node.disconnect(id), false));
            }
        }
        world.refresh(&self.automaton, number);
    }
}

impl super::Replica {
    pub(super) fn receive(&mut self, effects: &[Effect]) {
        self.slot.change(|node| {
            for effect in effects {
                node.apply(effect);
            }
            node.take_effects();
            ((), true)
        });
    }
}
