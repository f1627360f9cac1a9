//! What is explored: the knobs, each with its bound.

use std::sync::Arc;

use limiter_core::{Length, MAX_UNITS};

use crate::server;
use crate::subject::Subject;
use crate::threads;
use crate::world::{Fault, FaultBounds};

/// The most faults that one history can have.
pub(crate) const MAX_FAULTS: u32 = 100;

/// The numbers that client code and judges share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// Client workers: 1 to 64.
    pub workers: usize,
    /// Acquisitions that each worker makes, one after the other: 1 to 1,000.
    pub attempts: u32,
    /// Units that one window admits: 0 to 2^53 − 1.
    pub limit: u64,
    /// The length of a window in milliseconds: 1 ms to 366 days.
    pub window_ms: u64,
    /// Units that each acquisition asks for: 1 to 2^53 − 1.
    pub cost: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            workers: 16,
            attempts: 1,
            limit: 5,
            window_ms: 1000,
            cost: 1,
        }
    }
}

impl Parameters {
    fn check(&self) -> Result<(), String> {
        let bounds = [
            ("workers", self.workers as u64, 1, 64),
            ("attempts", u64::from(self.attempts), 1, 1000),
            ("limit", self.limit, 0, MAX_UNITS),
            ("window_ms", self.window_ms, 1, Length::MAX_MS),
            ("cost", self.cost, 1, MAX_UNITS),
        ];
        for (name, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(format!(
                    "{name} {value} is out of bounds: allowed is {least} to {most}"
                ));
            }
        }
        Ok(())
    }
}

/// How histories are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Every reachable state, once.
    #[default]
    Exhaustive,
    /// Uniform random walks.
    Random,
    /// Random priorities with a few random changes: finds what needs few switches at the right
    /// places with a known probability (Burckhardt et al., ASPLOS 2010).
    Pct,
}

impl Search {
    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Random => "random",
            Self::Pct => "pct",
        }
    }
}

/// What a server keeps on its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Persistence {
    /// Nothing.
    #[default]
    None,
    /// Snapshots, now and then.
    Rdb,
    /// An append-only file that is never synchronised on purpose.
    AofNo,
    /// An append-only file, synchronised every second.
    AofEverysec,
    /// An append-only file, synchronised before every reply.
    AofAlways,
}

impl Persistence {
    /// Every kind, from the weakest promise to the strongest.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Rdb,
        Self::AofNo,
        Self::AofEverysec,
        Self::AofAlways,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rdb => "rdb",
            Self::AofNo => "aof-no",
            Self::AofEverysec => "aof-everysec",
            Self::AofAlways => "aof-always",
        }
    }

    /// The kind of this name.
    ///
    /// # Errors
    /// Names those that there are.
    pub fn from_name(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no persistence has the name {name:?}; there are {names}")
        })
    }
}

/// One thing to explore: a subject, its parameters, and what the world may do to it.
///
/// ```
/// use limiter_sim::{Fault, Scenario, named};
///
/// let split = named("split").expect("in the catalogue");
/// let exploration = Scenario::new(split).workers(3).limit(2).explore()?;
/// assert_eq!(exploration.max_admitted, 3);
///
/// let atomic = named("atomic-window").expect("in the catalogue");
/// let exploration = Scenario::new(atomic).workers(4).limit(2).fault(Fault::Evict, 1).explore()?;
/// assert_eq!(exploration.max_admitted, 4);
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) subject: Arc<dyn Subject>,
    pub(crate) parameters: Parameters,
    pub(crate) server: server::Config,
    pub(crate) faults: FaultBounds,
    pub(crate) persistence: Persistence,
    /// Whether to keep what disks and replicas know although no fault can need it: a replay takes
    /// what steps its token says.
    pub(crate) keep_log: bool,
    /// Whether every step runs on the server, also one that was taken before in the same states.
    pub(crate) unmemoised: bool,
    pub(crate) time_steps: u32,
    pub(crate) search: Search,
    pub(crate) seed: u64,
    pub(crate) runs: u64,
    pub(crate) max_states: u64,
    pub(crate) patience: u64,
    pub(crate) threads: usize,
    /// Explores orders, and states, that cannot make a difference: for tests that they do not.
    #[cfg(test)]
    pub(crate) unreduced: bool,
    /// Takes another step in place of a chosen one: a broken fault, for tests of the tests.
    #[cfg(test)]
    pub(crate) mutant: Option<crate::world::Mutant>,
}

impl Scenario {
    /// A subject with 16 workers of one attempt each against a limit of 5, explored exhaustively
    /// without faults.
    pub fn new(subject: Arc<dyn Subject>) -> Self {
        Self {
            subject,
            parameters: Parameters::default(),
            server: server::Config::default(),
            faults: FaultBounds::default(),
            persistence: Persistence::default(),
            keep_log: false,
            unmemoised: false,
            time_steps: 0,
            search: Search::default(),
            seed: 0,
            runs: 10_000,
            max_states: 100_000_000,
            patience: u64::MAX,
            threads: threads::all(),
            #[cfg(test)]
            unreduced: false,
            #[cfg(test)]
            mutant: None,
        }
    }

    /// All numbers at once.
    #[must_use]
    pub fn parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// Client workers: 1 to 64.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.parameters.workers = workers;
        self
    }

    /// Acquisitions that each worker makes, one after the other: 1 to 1,000.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.parameters.attempts = attempts;
        self
    }

    /// Units that one window admits: 0 to 2^53 − 1.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.parameters.limit = limit;
        self
    }

    /// The length of a window in milliseconds: 1 ms to 366 days.
    #[must_use]
    pub fn window_ms(mut self, window_ms: u64) -> Self {
        self.parameters.window_ms = window_ms;
        self
    }

    /// Units that each acquisition asks for: 1 to 2^53 − 1.
    #[must_use]
    pub fn cost(mut self, cost: u64) -> Self {
        self.parameters.cost = cost;
        self
    }

    /// The modelled server: version, memory limit, eviction policy, `min-replicas`.
    #[must_use]
    pub fn server(mut self, server: server::Config) -> Self {
        self.server = server;
        self
    }

    /// Lets `fault` happen, at most `times` times, and raises the total by as much.
    #[must_use]
    pub fn fault(mut self, fault: Fault, times: u32) -> Self {
        self.faults.kinds.push((fault, times));
        self.faults.total += times;
        self
    }

    /// The most faults in one history, of all kinds together.
    #[must_use]
    pub fn max_faults(mut self, total: u32) -> Self {
        self.faults.total = total;
        self
    }

    /// What the server keeps on its disk.
    #[must_use]
    pub fn persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = persistence;
        self
    }

    /// How often time may pass in one history, each time to a deadline or 1 ms past it.
    #[must_use]
    pub fn time_steps(mut self, steps: u32) -> Self {
        self.time_steps = steps;
        self
    }

    /// How histories are chosen.
    #[must_use]
    pub fn search(mut self, search: Search) -> Self {
        self.search = search;
        self
    }

    /// The seed of a sampling search. The same seed gives the same result on every machine.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Histories that a sampling search follows.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = runs;
        self
    }

    /// States after which an exhaustive search gives up; the result is *bounded* then.
    #[must_use]
    pub fn max_states(mut self, states: u64) -> Self {
        self.max_states = states;
        self
    }

    /// How many more states an exhaustive search looks at, once it has a violation, without finding
    /// a worse one; unbounded if it is not said.
    #[must_use]
    pub fn patience(mut self, states: u64) -> Self {
        self.patience = states;
        self
    }

    /// At most so many threads, at least one; as many as there are cores unless it is said. What is found
    /// does not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        self.parameters.check()?;
        self.subject.check(&self.parameters)?;
        let bounds = self.faults.kinds.iter().map(|(_, bound)| *bound);
        if let Some(most) = bounds
            .chain([self.faults.total])
            .find(|bound| *bound > MAX_FAULTS)
        {
            return Err(format!(
                "{most} faults in one history: allowed is 0 to {MAX_FAULTS}"
            ));
        }
        self.server.validate().map_err(|error| error.to_string())
    }

    /// Whether nothing can happen but that clients go on.
    pub(crate) fn is_undisturbed(&self) -> bool {
        self.faults.kinds.is_empty() && self.time_steps == 0
    }

    /// Whether one of the faults can meet the subject under this persistence.
    pub(crate) fn is_applicable(&self) -> bool {
        let server = self.subject.uses().server;
        let meets = |fault: Fault| {
            let possible = match fault {
                Fault::SlowDisk => self.persistence == Persistence::AofEverysec,
                // A worker that begins anew forgets; that matters to its next attempt, and the
                // server's disk is not its own.
                Fault::Restart if !server => {
                    self.persistence == Persistence::None && self.parameters.attempts > 1
                }
                _ => true,
            };
            possible && self.subject.can_meet(fault)
        };
        self.faults.kinds.iter().all(|(fault, _)| meets(*fault))
    }
}
