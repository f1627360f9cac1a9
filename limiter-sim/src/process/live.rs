//! A process that runs: real futures, real wakers, polled until nothing is awake.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use super::input::{Input, Ticket};
use super::seam::{Pending, Seam};
use super::{Env, Outcome, Program};
use crate::scenario::Parameters;
use crate::subject::Subject;

/// One attempt of one client.
pub type Attempt = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// One thing that a process can do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A client that rests can begin its next attempt.
    Start { client: usize, attempt: u32 },
    /// A request waits for its turn on the server.
    Send(Pending),
}

/// The tasks of one process and what they wait for.
pub(crate) struct Live {
    seam: Seam,
    program: Box<dyn Program>,
    tasks: Vec<Option<Attempt>>,
    background: Vec<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    awake: Arc<AtomicU64>,
    ended: Vec<(usize, Outcome)>,
}

/// Clients and background tasks of one process share one word of wake-up flags.
const MAX_TASKS: usize = 64;

impl Live {
    /// A process of this class of the subject's, in which nothing has happened yet.
    pub(crate) fn start(subject: &dyn Subject, class: usize, parameters: &Parameters) -> Self {
        let seam = Seam::new();
        let env = Env::new(seam.clone(), class, parameters.clone());
        let program = subject.process(&env);
        Self::new(seam, program, subject.clients_per_process(parameters))
    }

    fn new(seam: Seam, mut program: Box<dyn Program>, clients: usize) -> Self {
        let background: Vec<_> = program.background().into_iter().map(Some).collect();
        assert!(
            clients + background.len() <= MAX_TASKS,
            "at most {MAX_TASKS} tasks in a process"
        );
        let awake = (clients..clients + background.len()).fold(0, |bits, task| bits | 1 << task);
        Self {
            seam,
            program,
            tasks: (0..clients).map(|_| None).collect(),
            background,
            awake: Arc::new(AtomicU64::new(awake)),
            ended: Vec::new(),
        }
    }

    /// Lets `input` cross and runs until nothing is awake. `recorded` are the clock readings to
    /// repeat. Returns the clock readings that were made.
    pub(crate) fn turn(
        &mut self,
        input: &Input,
        now: u64,
        recorded: impl IntoIterator<Item = Input>,
    ) -> Vec<Input> {
        self.ended.clear();
        self.seam.begin_turn(now, recorded);
        match input {
            Input::Start { client, attempt } => {
                self.seam.polling(Some(*client));
                self.tasks[*client] = Some(self.program.attempt(*client, *attempt));
                self.awake.fetch_or(1 << client, Ordering::Relaxed);
            }
            Input::Reply { ticket, reply } => self.seam.answer(*ticket, Ok(reply.clone())),
            Input::Broken { ticket, why } => self.seam.answer(*ticket, Err(*why)),
            Input::Fired { timer } => self.seam.fire(*timer),
            Input::Clock(_) => unreachable!("a clock reading is no turn of its own"),
        }
        self.run();
        self.seam.end_turn()
    }

    /// Polls whoever is awake, lowest number first.
    fn run(&mut self) {
        loop {
            let bits = self.awake.load(Ordering::Relaxed);
            if bits == 0 {
                return;
            }
            let task = bits.trailing_zeros() as usize;
            self.awake.fetch_and(!(1 << task), Ordering::Relaxed);
            let waker = Waker::from(Arc::new(Flag {
                awake: Arc::clone(&self.awake),
                task,
            }));
            self.poll(task, &mut Context::from_waker(&waker));
        }
    }

    fn poll(&mut self, task: usize, context: &mut Context<'_>) {
        if let Some(background) = task.checked_sub(self.tasks.len()) {
            self.seam.polling(None);
            let slot = &mut self.background[background];
            if let Some(future) = slot
                && future.as_mut().poll(context).is_ready()
            {
                *slot = None;
            }
            return;
        }
        self.seam.polling(Some(task));
        if let Some(attempt) = &mut self.tasks[task]
            && let Poll::Ready(outcome) = attempt.as_mut().poll(context)
        {
            self.tasks[task] = None;
            self.ended.push((task, outcome));
        }
    }

    /// What the process can do next: the first request on each connection, and the clients that
    /// rest. `clients` are the attempts that each has begun, of `attempts`, and whether it is at one.
    pub(crate) fn lanes(&self, clients: &[(u32, bool)], attempts: u32) -> Vec<Lane> {
        let pending = self.pending();
        let is_first = |one: &&Pending| {
            let before =
                |other: &Pending| other.connection == one.connection && other.ticket < one.ticket;
            !pending.iter().any(before)
        };
        let sends = pending.iter().filter(is_first).cloned().map(Lane::Send);
        let rests = clients.iter().enumerate();
        let starts = rests.filter_map(|(client, (begun, busy))| {
            let attempt = *begun;
            (!busy && attempt < attempts).then_some(Lane::Start { client, attempt })
        });
        sends.chain(starts).collect()
    }

    /// The attempts that ended in the last turn.
    pub(crate) fn ended(&self) -> &[(usize, Outcome)] {
        &self.ended
    }

    /// The client that was told in the last turn that it may go ahead.
    pub(crate) fn went_ahead(&self) -> Option<usize> {
        self.seam.went_ahead()
    }

    pub(crate) fn pending(&self) -> Vec<Pending> {
        self.seam.pending()
    }

    pub(crate) fn timers(&self) -> Vec<(Ticket, u64)> {
        self.seam.timers()
    }

    pub(crate) fn seam(&self) -> &Seam {
        &self.seam
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live")
            .field("seam", &self.seam)
            .finish_non_exhaustive()
    }
}

struct Flag {
    awake: Arc<AtomicU64>,
    task: usize,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.awake.fetch_or(1 << self.task, Ordering::Relaxed);
    }
}
