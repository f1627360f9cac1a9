//! The one place where client code and the simulated world meet.
//!
//! A client is real code: a future that is polled. All that it can learn from outside crosses this
//! seam, in one recorded order; so what it does next is a function of that record, and a client can
//! be rebuilt by feeding the record to a fresh future.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

use limiter_core::Timestamp;

use super::input::{Break, Input, Ticket};
use crate::server::{Reply, Request};

/// Where a connection leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Endpoint {
    /// The node that accepts writes.
    Primary,
    /// A node that receives what the primary did, some time later.
    Replica,
}

/// A request that client code has made and that has not been answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) ticket: Ticket,
    /// The client whose code made it; `None` for a background task of the process.
    pub(crate) client: Option<usize>,
    /// The connection, numbered within the process in the order in which they were made.
    pub(crate) connection: usize,
    pub(crate) request: Arc<Request>,
}

/// An answer to one request.
pub(crate) type Answer = Result<Reply, Break>;

/// Shared by a process's tasks and by the executor that polls them.
#[derive(Clone, Debug)]
pub(crate) struct Seam(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Who is being polled.
    polled: Option<usize>,
    /// Who was told in this turn that the work may go ahead.
    went_ahead: Option<usize>,
    endpoints: Vec<Endpoint>,
    next_ticket: Ticket,
    pending: Vec<Pending>,
    answers: BTreeMap<Ticket, Answer>,
    wakers: BTreeMap<Ticket, Waker>,
    timers: BTreeMap<Ticket, Timer>,
    now: u64,
    /// Clock readings still to be repeated while a process is rebuilt.
    recorded: VecDeque<Input>,
    /// Clock readings of this turn, in order.
    crossed: Vec<Input>,
}

#[derive(Debug)]
struct Timer {
    deadline: u64,
    fired: bool,
    waker: Option<Waker>,
}

impl Seam {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0
            .lock()
            .expect("no client panics while it holds the seam")
    }

    // What client code does.

    pub(crate) fn connect(&self, endpoint: Endpoint) -> usize {
        let mut state = self.lock();
        state.endpoints.push(endpoint);
        state.endpoints.len() - 1
    }

    pub(crate) fn send(&self, connection: usize, request: Request) -> Ticket {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        let client = state.polled;
        state.pending.push(Pending {
            ticket,
            client,
            connection,
            request: Arc::new(request),
        });
        ticket
    }

    pub(crate) fn take_answer(&self, ticket: Ticket, waker: &Waker) -> Option<Answer> {
        let mut state = self.lock();
        let answer = state.answers.remove(&ticket);
        if answer.is_none() {
            state.wakers.insert(ticket, waker.clone());
        }
        answer
    }

    /// Client code dropped the future that waited for `ticket`. A request that was not executed yet
    /// counts as not sent.
    pub(crate) fn abandon(&self, ticket: Ticket) {
        let mut state = self.lock();
        state.pending.retain(|pending| pending.ticket != ticket);
        state.answers.remove(&ticket);
        state.wakers.remove(&ticket);
    }

    pub(crate) fn read_clock(&self) -> Timestamp {
        let mut state = self.lock();
        let reading = match state.recorded.pop_front() {
            Some(Input::Clock(ms)) => ms,
            Some(other) => unreachable!("drift: a clock was read where {other:?} was recorded"),
            None => state.now,
        };
        state.crossed.push(Input::Clock(reading));
        Timestamp::from_millis(reading)
    }

    pub(crate) fn arm(&self, deadline: u64) -> Ticket {
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        let timer = Timer {
            deadline,
            fired: false,
            waker: None,
        };
        state.timers.insert(ticket, timer);
        ticket
    }

    pub(crate) fn has_fired(&self, timer: Ticket, waker: &Waker) -> bool {
        let mut state = self.lock();
        let timer = state.timers.get_mut(&timer).expect("armed until dropped");
        timer.waker = Some(waker.clone());
        timer.fired
    }

    pub(crate) fn disarm(&self, timer: Ticket) {
        self.lock().timers.remove(&timer);
    }

    pub(crate) fn go_ahead(&self) {
        let mut state = self.lock();
        state.went_ahead = state.polled;
    }

    // What the executor does.

    pub(crate) fn went_ahead(&self) -> Option<usize> {
        self.lock().went_ahead
    }

    pub(crate) fn begin_turn(&self, now: u64, recorded: impl IntoIterator<Item = Input>) {
        let mut state = self.lock();
        state.now = now;
        state.recorded = recorded.into_iter().collect();
        state.crossed.clear();
        state.went_ahead = None;
    }

    /// The clock readings of the turn that ends here.
    pub(crate) fn end_turn(&self) -> Vec<Input> {
        let mut state = self.lock();
        assert!(
            state.recorded.is_empty(),
            "drift: a recorded clock reading was not repeated"
        );
        std::mem::take(&mut state.crossed)
    }

    pub(crate) fn polling(&self, client: Option<usize>) {
        self.lock().polled = client;
    }

    pub(crate) fn answer(&self, ticket: Ticket, answer: Answer) {
        let waker = {
            let mut state = self.lock();
            state.pending.retain(|pending| pending.ticket != ticket);
            state.answers.insert(ticket, answer);
            state.wakers.remove(&ticket)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn fire(&self, timer: Ticket) {
        let waker = self.lock().timers.get_mut(&timer).and_then(|timer| {
            timer.fired = true;
            timer.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn pending(&self) -> Vec<Pending> {
        self.lock().pending.clone()
    }

    /// Timers that are armed and have not fired, with their deadlines.
    pub(crate) fn timers(&self) -> Vec<(Ticket, u64)> {
        let state = self.lock();
        let armed = state.timers.iter().filter(|(_, timer)| !timer.fired);
        armed.map(|(id, timer)| (*id, timer.deadline)).collect()
    }

    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        self.lock().endpoints.clone()
    }
}
