//! The Redis store on a real server, whose time is moved by moving the keys' deadlines earlier.

use std::cell::{Cell, RefCell};

use limiter_core::{Budget, BudgetStore, Clock, SystemClock, Timestamp};
use limiter_tests::{Program, Server};
use tokio::runtime::Runtime;

use super::answer::Answer;
use super::scenario::Request;
use crate::support::{Store, key, store};

/// Brings the deadline of each key forward by `ARGV[1]` milliseconds. One that is then over deletes
/// its key.
const EARLIER: &str = "
    for _, key in ipairs(KEYS) do
      local time = redis.call('TIME')
      local left = redis.call('PTTL', key)
      if left >= 0 then
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local deadline = now + left - tonumber(ARGV[1])
        redis.call('PEXPIREAT', key, string.format('%.0f', deadline))
      end
    end";

pub(super) struct RealStore {
    store: Store,
    runtime: Runtime,
    admin: RefCell<::redis::Connection>,
    clock: SystemClock,
    began: Cell<Timestamp>,
    moves: Cell<u64>,
    _server: Server,
}

impl RealStore {
    pub(super) fn on(program: &Program) -> Self {
        let server = program.setup().start();
        let runtime = Runtime::new().unwrap();
        let clock = SystemClock::new();
        Self {
            store: runtime.block_on(store(&server)),
            runtime,
            admin: RefCell::new(server.admin()),
            clock,
            began: Cell::new(clock.now()),
            moves: Cell::new(0),
            _server: server,
        }
    }

    /// Begins anew, with no key and no lag.
    pub(super) fn forget_all(&self) {
        ::redis::cmd("FLUSHALL")
            .exec(&mut self.admin.borrow_mut())
            .unwrap();
        self.began.set(self.clock.now());
        self.moves.set(0);
    }

    /// Real time that has passed since then, at most: both ends are rounded to milliseconds, and
    /// so is each move of a deadline.
    pub(super) fn lag_ms(&self) -> u64 {
        self.clock.now().millis_since(self.began.get()) + self.moves.get() + 2
    }

    pub(super) fn pass(&self, ms: u64, budgets: &[Budget]) {
        let mut eval = ::redis::cmd("EVAL");
        self.moves.update(|moves| moves + 1);
        eval.arg(EARLIER).arg(budgets.len());
        for budget in budgets {
            eval.arg(key(budget));
        }
        eval.arg(ms).exec(&mut self.admin.borrow_mut()).unwrap();
    }

    pub(super) fn answer(&self, request: &Request) -> Answer {
        match request {
            Request::Acquire(request) => {
                let decision = self.runtime.block_on(self.store.acquire(request));
                decision.unwrap().into()
            }
            Request::Peek(budget) => {
                let snapshot = self.runtime.block_on(self.store.peek(budget));
                snapshot.unwrap().into()
            }
        }
    }
}
