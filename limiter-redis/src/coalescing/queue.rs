//! Who waits to be sent, and how much is under way.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_channel::oneshot::{self, Receiver, Sender};
use futures_util::FutureExt;

use super::Mixing;
use super::batch::{Answer, Batch, is_small, tell};
use crate::plain::Plain;

/// Calls under way at once, unless it is said. Below it a call is sent by itself, so that few callers
/// wait for nobody; at it they gather, so that many share scripts.
const MAX_IN_FLIGHT: NonZeroUsize = NonZeroUsize::new(8).expect("not 0");

#[derive(Debug)]
pub(super) struct Queue {
    mixing: Mixing,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Waiting>,
    /// The number of the next to wait.
    next: u64,
    in_flight: usize,
    max_in_flight: NonZeroUsize,
    /// A batch was taken from here and may not have reached the connection yet.
    handing_on: bool,
    waker: Option<Waker>,
    has_driver: bool,
    has_store: bool,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    plain: Plain,
    caller: Sender<Answer>,
}

/// What a charge does next.
#[derive(Debug)]
pub(super) enum Turn {
    /// It is sent by itself, at once.
    Now(Plain, UnderWay),
    /// It waits, and is sent with others.
    Later(Ticket),
}

/// What the driver does next.
#[derive(Debug)]
pub(super) enum Work {
    Send(Batch, UnderWay),
    Wait,
    End,
}

impl Queue {
    pub(super) fn new(mixing: Mixing) -> Self {
        Self {
            mixing,
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                next: 0,
                in_flight: 0,
                max_in_flight: MAX_IN_FLIGHT,
                handing_on: false,
                waker: None,
                has_driver: true,
                has_store: true,
            }),
        }
    }

    pub(super) fn set_max_in_flight(&self, calls: NonZeroUsize) {
        self.state().max_in_flight = calls;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(self: &Arc<Self>, plain: Plain) -> Turn {
        let mut state = self.state();
        let is_free = state.has_room() && state.waiting.is_empty() && !state.handing_on;
        if is_free || !state.has_driver || !is_small(&plain) {
            state.in_flight += 1;
            return Turn::Now(plain, UnderWay(Arc::clone(self)));
        }
        let (caller, answer) = oneshot::channel();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(Waiting {
            number,
            plain,
            caller,
        });
        let ticket = Ticket {
            queue: Arc::clone(self),
            number,
            answer,
        };
        // At the bound, the end of whatever is under way wakes it.
        let waker = match state.has_room() {
            true => state.waker.take(),
            false => None,
        };
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Turn::Later(ticket)
    }

    /// The next batch, or nothing until the driver is woken.
    pub(super) fn work(self: &Arc<Self>, context: &Context<'_>) -> Work {
        let mut state = self.state();
        state.handing_on = false;
        if !state.has_store {
            return Work::End;
        }
        if state.waiting.is_empty() || !state.has_room() {
            match &mut state.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
            return Work::Wait;
        }
        let batch = match self.mixing {
            Mixing::AllKeys => state.first_in_line(),
            Mixing::PerHashTag => state.first_of_a_tag(),
        };
        state.in_flight += 1;
        state.handing_on = true;
        Work::Send(batch, UnderWay(Arc::clone(self)))
    }

    /// Nobody will send what waits.
    pub(super) fn driver_ended(&self) {
        let waiting = {
            let mut state = self.state();
            state.has_driver = false;
            state.handing_on = false;
            std::mem::take(&mut state.waiting)
        };
        for waiting in waiting {
            tell(waiting.caller, Answer::NotSent);
        }
    }

    pub(super) fn store_ended(&self) {
        let waker = {
            let mut state = self.state();
            state.has_store = false;
            state.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    fn leave(&self) {
        let waker = {
            let mut state = self.state();
            state.in_flight -= 1;
            match state.waiting.is_empty() {
                true => None,
                false => state.waker.take(),
            }
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Takes out who waits under this number; `false` where it was handed on already.
    fn withdraw(&self, number: u64) -> bool {
        let mut state = self.state();
        let place = state
            .waiting
            .binary_search_by_key(&number, |waiting| waiting.number);
        place
            .map(|place| state.waiting.remove(place))
            .is_ok_and(|removed| removed.is_some())
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.in_flight < self.max_in_flight.get()
    }

    fn first_in_line(&mut self) -> Batch {
        let mut batch = Batch::default();
        while let Some(waiting) = self.waiting.front()
            && batch.has_room(&waiting.plain)
            && let Some(waiting) = self.waiting.pop_front()
        {
            batch.push(waiting.plain, waiting.caller);
        }
        batch
    }

    /// Whoever has the tag of the first in line, in their order.
    fn first_of_a_tag(&mut self) -> Batch {
        let mut batch = Batch::default();
        let Some(tag) = self.waiting.front().map(|first| first.plain.tag) else {
            return batch;
        };
        let mut is_closed = false;
        let mut others = VecDeque::with_capacity(self.waiting.len());
        for waiting in self.waiting.drain(..) {
            let is_ours = waiting.plain.tag == tag && !is_closed;
            if is_ours && batch.has_room(&waiting.plain) {
                batch.push(waiting.plain, waiting.caller);
            } else {
                // A later one that is small enough must not overtake.
                is_closed |= is_ours;
                others.push_back(waiting);
            }
        }
        self.waiting = others;
        batch
    }
}

/// One call under way.
#[derive(Debug)]
pub(super) struct UnderWay(Arc<Queue>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A place in the queue. Whoever drops it leaves the queue.
#[derive(Debug)]
pub(super) struct Ticket {
    queue: Arc<Queue>,
    number: u64,
    answer: Receiver<Answer>,
}

impl Ticket {
    /// The answer; `None` where the driver was dropped after it had sent.
    pub(super) fn poll_answer(&mut self, context: &mut Context<'_>) -> Poll<Option<Answer>> {
        self.answer.poll_unpin(context).map(Result::ok)
    }

    /// Leaves the queue; `false` where it was handed on already.
    pub(super) fn withdraw(&self) -> bool {
        self.queue.withdraw(self.number)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.withdraw();
    }
}
