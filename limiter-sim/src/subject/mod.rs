//! What is explored: client code, and what the judge has to know about it.

mod catalogue;
mod client;
mod expression;
mod script;
mod store;
mod stores;

use std::fmt;

pub use catalogue::{catalogue, named};
pub(crate) use catalogue::{first_arrival_windows, rules_and_forms};
pub use client::{Charges, Client, Promises};
#[doc(hidden)]
pub use script::Call;
pub use script::Script;
pub use store::StoreSubject;

use crate::judge::Promise;
use crate::process::{Env, Program};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};
use crate::world::Fault;

/// A rate limiter as its callers run it: the client code of one process, and what the judges need
/// to know of it.
pub trait Subject: fmt::Debug + Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &str;

    /// What it is, in one sentence.
    fn about(&self) -> &str;

    /// What it does wrong, in one sentence that follows "it"; `None` for those that are not broken
    /// on purpose.
    fn flaw(&self) -> Option<&str> {
        None
    }

    /// The client code of one process.
    fn process(&self, env: &Env) -> Box<dyn Program>;

    /// Whether it can be called with these numbers.
    ///
    /// # Errors
    /// Names the number that it cannot take, and what is allowed. The scenario is not explored then.
    fn check(&self, _parameters: &Parameters) -> Result<(), String> {
        Ok(())
    }

    /// How many clients share one process: its memory, its connections.
    fn clients_per_process(&self, _parameters: &Parameters) -> usize {
        1
    }

    /// How many workers have to call at once before it does what is special about it.
    fn at_once(&self) -> usize {
        1
    }

    /// Whether a process keeps state of its own from one attempt to the next.
    fn keeps_state(&self) -> bool {
        false
    }

    /// What it promises: the first-arrival window of the scenario's limit and length, unless it says
    /// otherwise.
    fn promise(&self, parameters: &Parameters) -> Promise {
        Promise::first_arrival(parameters)
    }

    /// Which parts of the world its callers depend on: a fault elsewhere cannot meet it.
    fn uses(&self) -> Uses {
        Uses::SERVER
    }

    /// Which kind of process worker number `worker` is. Processes of one class run the same code
    /// with the same arguments: histories that differ only in who of them is who are explored once.
    fn class(&self, _worker: usize, _parameters: &Parameters) -> usize {
        0
    }

    /// Why its answers need not be those that its rule gives to its callers one after the other, in a
    /// clause: it denies early by design, or what it gives back is no answer. `None` where without
    /// faults every history must have such an order, which is what is looked for.
    fn unordered(&self) -> Option<&str> {
        None
    }

    /// Units that this executed command charged to the budget (less than 0: gave back).
    fn charges(&self, _request: &Request, _reply: &Reply, _parameters: &Parameters) -> i64 {
        0
    }

    /// How it is called, if it is a script.
    #[doc(hidden)]
    fn script(&self) -> Option<&Call> {
        None
    }

    /// Whether `fault` can meet it.
    fn can_meet(&self, fault: Fault) -> bool {
        let uses = self.uses();
        match fault {
            Fault::ScriptFlush => uses.scripts,
            Fault::StaleRead => uses.replica,
            Fault::ClockJump => uses.server || uses.clock,
            Fault::Restart => uses.server || self.keeps_state(),
            _ => uses.server,
        }
    }
}

/// Which parts of the world a subject depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// A server that takes writes.
    pub server: bool,
    /// A server that caches scripts.
    pub scripts: bool,
    /// A replica that it reads.
    pub replica: bool,
    /// The clocks of its own processes.
    pub clock: bool,
}

impl Uses {
    /// Commands on a server.
    pub const SERVER: Self = Self {
        server: true,
        scripts: false,
        replica: false,
        clock: false,
    };

    /// Cached scripts on a server.
    pub const SCRIPTS: Self = Self {
        scripts: true,
        ..Self::SERVER
    };

    /// Nothing but its own memory and clock.
    pub const PROCESS: Self = Self {
        server: false,
        scripts: false,
        replica: false,
        clock: true,
    };
}
