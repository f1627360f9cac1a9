//! Client processes: real client code, what it may touch, and how it is rebuilt.

mod automaton;
mod clock;
mod connection;
pub(crate) mod input;
mod live;
mod seam;

use std::pin::Pin;

pub(crate) use automaton::{Automaton, Position};
pub use clock::SimClock;
pub use connection::SimConnection;
pub(crate) use input::{Break, Input, Ticket};
pub use live::Attempt;
pub(crate) use live::{Lane, Live};
pub use seam::Endpoint;
pub(crate) use seam::Pending;
use seam::Seam;

use crate::scenario::Parameters;

/// How one attempt ended, as its caller was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// The work may go ahead.
    Admitted,
    /// The work may not go ahead, and nothing failed.
    Denied,
    /// No decision: the caller was told an error.
    Failed,
}

impl Outcome {
    /// What the caller was told, in one word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Denied => "denied",
            Self::Failed => "error",
        }
    }
}

/// The client code of one process.
pub trait Program: Send {
    /// Begins attempt number `attempt` (from 0) of client number `client` (from 0) of this process.
    fn attempt(&mut self, client: usize, attempt: u32) -> Attempt;

    /// What runs beside the clients: drivers and the like. Started with the process.
    fn background(&mut self) -> Vec<Pin<Box<dyn Future<Output = ()> + Send>>> {
        Vec::new()
    }
}

/// What a process can reach of the simulated world.
#[derive(Clone, Debug)]
pub struct Env {
    seam: Seam,
    class: usize,
    attempt: u32,
    parameters: Parameters,
}

impl Env {
    pub(crate) fn new(seam: Seam, class: usize, parameters: Parameters) -> Self {
        Self {
            seam,
            class,
            attempt: 0,
            parameters,
        }
    }

    /// The same for one attempt.
    pub(crate) fn at(&self, attempt: u32) -> Self {
        Self {
            attempt,
            ..self.clone()
        }
    }

    /// Which attempt of its client this is, from 0; 0 for what belongs to the whole process.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Tells the caller that the work may go ahead, although the attempt goes on: what follows in it
    /// is the work's own, such as giving back what it did not need. How the attempt ends is told to
    /// nobody then. At most one client of a process goes ahead in one step.
    pub fn go_ahead(&self) {
        self.seam.go_ahead();
    }

    /// A new connection. It is opened by its first request.
    pub fn connect(&self, endpoint: Endpoint) -> SimConnection {
        let connection = self.seam.connect(endpoint);
        SimConnection::new(self.seam.clone(), connection)
    }

    /// This process's clock.
    pub fn clock(&self) -> SimClock {
        SimClock::new(self.seam.clone())
    }

    /// Which kind of process this is: see [`Subject::class`](crate::Subject::class).
    pub fn class(&self) -> usize {
        self.class
    }

    /// Limit, window, cost and number of workers.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }
}
