//! What a store says about itself.

/// What a store guarantees beyond the contract, so that a caller can choose and a conformance test
/// knows what it may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether processes that use the same store share their budgets.
    pub shared: bool,
    /// Whose clock dates admissions and ends windows.
    pub clock: ClockOwner,
    /// Whether counts survive a restart of whatever holds them.
    pub survives_restart: Survival,
    /// Whether counts survive a failover of whatever holds them.
    pub survives_failover: Survival,
    /// The most charges that one acquisition can have: 1 to 16.
    pub max_charges: usize,
}

impl Capabilities {
    /// Of a store in this process: nothing shared, nothing survives, one charge at a time.
    pub const fn in_process() -> Self {
        Self {
            shared: false,
            clock: ClockOwner::Process,
            survives_restart: Survival::No,
            survives_failover: Survival::No,
            max_charges: 1,
        }
    }

    /// Of a store on a server that many processes share. Whether counts survive is up to how that
    /// server is run.
    pub const fn on_server() -> Self {
        Self {
            shared: true,
            clock: ClockOwner::Server,
            survives_restart: Survival::AsConfigured,
            survives_failover: Survival::AsConfigured,
            max_charges: 1,
        }
    }
}

/// Whose clock dates admissions and ends windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClockOwner {
    /// This process, through the [`Clock`](crate::Clock) that the store was given.
    Process,
    /// The server that holds the counts; clients' clocks play no part.
    Server,
}

/// Whether counts survive an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Survival {
    /// They are lost.
    No,
    /// It depends on the server's persistence and replication, which the store cannot see.
    AsConfigured,
    /// They survive.
    Yes,
}
