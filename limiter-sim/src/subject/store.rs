//! Any `BudgetStore` as a subject.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use limiter_core::{Acquire, BudgetStore, Cost, Decision, Policy};

use super::client::Charges;
use super::{Subject, Uses};
use crate::process::{Attempt, Env, Outcome, Program};
use crate::scenario::Parameters;
use crate::server::{Reply, Request};

type Build = dyn Fn(&Env) -> Arc<dyn BudgetStore> + Send + Sync;

/// A store that each process builds for itself, over what it can reach of the world.
///
/// ```
/// use limiter_redis::RedisStore;
/// use limiter_sim::{Endpoint, StoreSubject, Uses};
///
/// let store = StoreSubject::new("mine", "a Redis store with its own prefix", |env| {
///     RedisStore::new(env.connect(Endpoint::Primary)).with_prefix("mine:").expect("no braces")
/// })
/// .using(Uses::SCRIPTS);
/// # let _ = store;
/// ```
#[derive(Clone)]
pub struct StoreSubject {
    name: String,
    about: String,
    flaw: Option<String>,
    uses: Uses,
    keeps_state: bool,
    charges: Charges,
    unordered: Option<String>,
    build: Arc<Build>,
}

impl StoreSubject {
    /// A store under a name, described in one sentence.
    pub fn new<S: BudgetStore + 'static>(
        name: impl Into<String>,
        about: impl Into<String>,
        build: impl Fn(&Env) -> S + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            flaw: None,
            uses: Uses::SERVER,
            keeps_state: false,
            charges: |_, _, _| 0,
            unordered: None,
            build: Arc::new(move |env| Arc::new(build(env))),
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

    /// Says that the store keeps state in its process from one acquisition to the next.
    #[must_use]
    pub fn keeping_state(mut self) -> Self {
        self.keeps_state = true;
        self
    }

    /// Says which commands charge, so that waste can be told. Without it no charge is seen, and only
    /// what callers were told is judged.
    #[must_use]
    pub fn charging(mut self, charges: Charges) -> Self {
        self.charges = charges;
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

/// What every caller of a store under test asks for.
pub(super) fn request(parameters: &Parameters) -> Acquire {
    request_with_limit(parameters, parameters.limit)
}

/// The same under another limit.
pub(super) fn request_with_limit(parameters: &Parameters, limit: u64) -> Acquire {
    let policy = Policy::named("simulated")
        .scope("simulation")
        .limit(limit)
        .first_arrival(Duration::from_millis(parameters.window_ms))
        .build()
        .expect("the parameters were checked");
    let cost = Cost::new(parameters.cost).expect("the parameters were checked");
    Acquire::of(&policy, "budget", cost)
}

/// What the caller of an acquisition is told.
pub(super) fn told(decided: Result<Decision, limiter_core::Error>) -> Outcome {
    match decided {
        Ok(Decision::Admitted(_)) => Outcome::Admitted,
        Ok(Decision::Denied(_)) => Outcome::Denied,
        Err(_) => Outcome::Failed,
    }
}

impl Subject for StoreSubject {
    fn name(&self) -> &str {
        &self.name
    }

    fn about(&self) -> &str {
        &self.about
    }

    fn flaw(&self) -> Option<&str> {
        self.flaw.as_deref()
    }

    fn process(&self, env: &Env) -> Box<dyn Program> {
        Box::new(Running {
            store: (self.build)(env),
            request: request(env.parameters()),
        })
    }

    fn keeps_state(&self) -> bool {
        self.keeps_state
    }

    fn uses(&self) -> Uses {
        self.uses
    }

    fn unordered(&self) -> Option<&str> {
        self.unordered.as_deref()
    }

    fn charges(&self, request: &Request, reply: &Reply, parameters: &Parameters) -> i64 {
        (self.charges)(request, reply, parameters)
    }
}

impl fmt::Debug for StoreSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreSubject")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

struct Running {
    store: Arc<dyn BudgetStore>,
    request: Acquire,
}

impl Program for Running {
    fn attempt(&mut self, _client: usize, _attempt: u32) -> Attempt {
        let store = Arc::clone(&self.store);
        let request = self.request.clone();
        Box::pin(async move { told(store.acquire(&request).await) })
    }
}
