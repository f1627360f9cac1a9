//! Any async client code as a subject.

use std::fmt;
use std::sync::Arc;

use super::{Subject, Uses};
use crate::judge::Promise;
use crate::process::{Attempt, Env, Outcome, Program};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};

/// Says how many units an executed command charged.
pub type Charges = fn(&Request, &Reply, &Parameters) -> i64;

/// What is promised under the scenario's numbers.
pub type Promises = fn(&Parameters) -> Promise;

/// Client code that keeps nothing between two acquisitions: an async function from what it can
/// reach of the world to what its caller is told.
///
/// ```
/// use limiter_sim::{Client, Endpoint, Outcome};
///
/// let client = Client::new("incr", "INCR and compare, with no deadline at all", |env| async move {
///     let mut connection = env.connect(Endpoint::Primary);
///     let reply = redis::cmd("INCR").arg("hits").query_async::<u64>(&mut connection).await;
///     match reply {
///         Ok(total) if total <= env.parameters().limit => Outcome::Admitted,
///         Ok(_) => Outcome::Denied,
///         Err(_) => Outcome::Failed,
///     }
/// });
/// # let _ = client;
/// ```
#[derive(Clone)]
pub struct Client {
    name: String,
    about: String,
    flaw: Option<String>,
    uses: Uses,
    charges: Charges,
    promise: Option<Promises>,
    distinct: bool,
    unordered: Option<String>,
    requires: Option<Arc<Requires>>,
    acquire: Arc<dyn Fn(Env) -> Attempt + Send + Sync>,
}

/// Whether client code can be called with these numbers, and which of them it cannot take.
type Requires = dyn Fn(&Parameters) -> Result<(), String> + Send + Sync;

impl Client {
    /// Client code under a name, described in one sentence. `acquire` is one acquisition.
    pub fn new<F, A>(name: impl Into<String>, about: impl Into<String>, acquire: F) -> Self
    where
        F: Fn(Env) -> A + Send + Sync + 'static,
        A: Future<Output = Outcome> + Send + 'static,
    {
        Self {
            name: name.into(),
            about: about.into(),
            flaw: None,
            uses: Uses::SERVER,
            charges: |_, _, _| 0,
            promise: None,
            distinct: false,
            unordered: None,
            requires: None,
            acquire: Arc::new(move |env| Box::pin(acquire(env))),
        }
    }

    /// Says what it does wrong, in one sentence that follows "it".
    #[must_use]
    pub fn broken(mut self, flaw: impl Into<String>) -> Self {
        self.flaw = Some(flaw.into());
        self
    }

    /// Says which parts of the world it depends on; commands on a server if it is not said.
    #[must_use]
    pub fn using(mut self, uses: Uses) -> Self {
        self.uses = uses;
        self
    }

    /// Says which commands charge, so that waste can be told. Without it no charge is seen, and only
    /// what callers were told is judged.
    #[must_use]
    pub fn charging(mut self, charges: Charges) -> Self {
        self.charges = charges;
        self
    }

    /// Says what it promises; the first-arrival window if it is not said.
    #[must_use]
    pub fn promising(mut self, promise: Promises) -> Self {
        self.promise = Some(promise);
        self
    }

    /// Says which of a scenario's numbers it can be called with: see [`Subject::check`].
    #[must_use]
    pub fn requiring(
        mut self,
        check: impl Fn(&Parameters) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.requires = Some(Arc::new(check));
        self
    }

    /// Says that no two workers run with the same arguments: [`Env::class`] is the number of each.
    #[must_use]
    pub fn telling_workers_apart(mut self) -> Self {
        self.distinct = true;
        self
    }

    /// Says that it may answer otherwise than its rule would, and why in a clause: see
    /// [`Subject::unordered`].
    #[must_use]
    pub fn unordered(mut self, why: impl Into<String>) -> Self {
        self.unordered = Some(why.into());
        self
    }
}

impl Subject for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &str {
        &self.about
    }

    fn flaw(&self) -> Option<&str> {
        self.flaw.as_deref()
    }

    fn check(&self, parameters: &Parameters) -> Result<(), String> {
        match &self.requires {
            Some(requires) => requires(parameters),
            None => Ok(()),
        }
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        Box::new(Running {
            env: env.clone(),
            acquire: Arc::clone(&self.acquire),
        })
    }

    fn uses(&self) -> Uses {
        self.uses
    }

    fn class(&self, worker: usize, _: &Parameters) -> usize {
        if self.distinct { worker } else { 0 }
    }

    fn promise(&self, parameters: &Parameters) -> Promise {
        self.promise.map_or_else(
            || Promise::first_arrival(parameters),
            |promise| promise(parameters),
        )
    }

    fn unordered(&self) -> Option<&str> {
        self.unordered.as_deref()
    }

    fn charges(&self, request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
        (self.charges)(request, reply, parameters)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

struct Running {
    env: Env,
    acquire: Arc<dyn Fn(Env) -> Attempt + Send + Sync>,
}

impl Program for Running {
    fn attempt(&mut self, _client: usize, attempt: u32) -> Attempt {
        (self.acquire)(self.env.at(attempt))
    }
}
