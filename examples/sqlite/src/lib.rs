//! A store of one's own: a table in SQLite, decided by [`limiter_core::rule`]. Every call is load,
//! step, save in one transaction. It keeps every rule, refunds and several budgets at once, but no
//! request ids, and blocks its thread for as long as SQLite works.

use std::fmt;
use std::sync::Mutex;

use async_trait::async_trait;
use limiter_core::rule::{State, Step, decide};
use limiter_core::{
    Acquire, Budget, BudgetStore, Capabilities, Clock, Decision, Error, Receipt, Refunded, Renewed,
    RuleSet, Snapshot, Timestamp,
};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS budgets (key BLOB PRIMARY KEY, state BLOB NOT NULL,
    deadline_ms INTEGER NOT NULL); CREATE INDEX IF NOT EXISTS due ON budgets (deadline_ms);";
const LOAD: &str = "SELECT state FROM budgets WHERE key = ?1";
const SAVE: &str = "REPLACE INTO budgets VALUES (?1, ?2, ?3)";
/// What can deny no more, a little more of it than a call can add.
const CLEAN: &str = "DELETE FROM budgets WHERE key IN
    (SELECT key FROM budgets WHERE deadline_ms < ?1 ORDER BY deadline_ms LIMIT 20)";
const RESET: &str = "DELETE FROM budgets WHERE key = ?1";
const NO_PANIC: &str = "no call panics while it holds the connection";

/// Budgets in a SQLite database, dated by `C`.
#[derive(Debug)]
pub struct SqliteStore<C> {
    connection: Mutex<Connection>,
    clock: C,
}

impl<C: Clock> SqliteStore<C> {
    /// Keeps budgets behind `connection`, in a table named `budgets`.
    ///
    /// # Errors
    /// *Unavailable* where the table cannot be made.
    pub fn new(connection: Connection, clock: C) -> Result<Self, Error> {
        connection.execute_batch(CREATE).map_err(not_done)?;
        let connection = Mutex::new(connection);
        Ok(Self { connection, clock })
    }

    /// Runs one transaction. What fails before the commit changes nothing; a commit may have.
    fn transact<R>(
        &self,
        work: impl FnOnce(&Connection, Timestamp) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let mut connection = self.connection.lock().expect(NO_PANIC);
        let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = begun.map_err(not_done)?;
        let done = work(&transaction, self.clock.now())?;
        let unknown = |error| Error::uncertain("the commit failed").with_source(error);
        transaction.commit().map_err(unknown).map(|()| done)
    }

    /// Changes the state that `receipt` is of; `gone` is the answer where there is none any more.
    fn change<R>(
        &self,
        receipt: &Receipt,
        gone: R,
        step: impl FnOnce(&mut State, Timestamp) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.transact(|connection, now| {
            let Some(mut state) = load(connection, receipt.budget())? else {
                return Ok(gone);
            };
            let answer = step(&mut state, now)?;
            save(connection, receipt.budget(), &state)?;
            Ok(answer)
        })
    }
}

fn not_done(error: rusqlite::Error) -> Error {
    Error::unavailable("the database refused").with_source(error)
}

fn load(connection: &Connection, budget: &Budget) -> Result<Option<State>, Error> {
    let found = connection.query_row(LOAD, [budget.key().as_bytes()], |row| row.get(0));
    let bytes: Option<Vec<u8>> = found.optional().map_err(not_done)?;
    (bytes.map(|bytes| State::from_bytes(&bytes, budget))).transpose()
}

fn save(connection: &Connection, budget: &Budget, state: &State) -> Result<(), Error> {
    let (key, deadline) = (budget.key(), state.deadline(budget.policy()));
    let deadline_ms = deadline.as_millis() as i64;
    let row = params![key.as_bytes(), state.to_bytes(), deadline_ms];
    connection.execute(SAVE, row).map(drop).map_err(not_done)
}

#[async_trait]
impl<C: Clock> BudgetStore for SqliteStore<C> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        request.check(&self.capabilities(), self)?;
        self.transact(|connection, now| {
            let budgets = request.charges().iter().map(|charge| charge.budget());
            let stored = budgets.clone().map(|budget| load(connection, budget));
            let stored: Vec<_> = stored.collect::<Result<_, _>>()?;
            let (admission, states) = match decide(request, stored, now)? {
                Step::Admit { admission, states } => (admission, states),
                Step::Deny(denial) => return Ok(Decision::Denied(denial)),
            };
            (connection.execute(CLEAN, [now.as_millis() as i64])).map_err(not_done)?;
            for (budget, state) in budgets.zip(&states) {
                save(connection, budget, state)?;
            }
            Ok(Decision::Admitted(admission))
        })
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.capabilities().check(budget.policy(), self)?;
        let stored = load(&self.connection.lock().expect(NO_PANIC), budget)?;
        State::peek(stored.as_ref(), self.clock.now(), budget)
    }

    fn capabilities(&self) -> Capabilities {
        let mut offered = Capabilities::in_process();
        (offered.rules, offered.refunds) = (RuleSet::ALL, RuleSet::ALL);
        (offered.max_charges, offered.resets) = (Acquire::MAX_CHARGES, true);
        offered
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        let refund = |state: &mut State, now| state.refund(now, &receipt);
        self.change(&receipt, Refunded::Late, refund)
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        let renew = |state: &mut State, now| state.renew(now, receipt);
        self.change(receipt, Renewed::Lost, renew)
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        let connection = self.connection.lock().expect(NO_PANIC);
        let reset = connection.execute(RESET, [budget.key().as_bytes()]);
        reset.map(drop).map_err(not_done)
    }
}

impl<C> fmt::Display for SqliteStore<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SqliteStore")
    }
}
