//! A store that keeps the whole contract in the plainest way: one lock around a map of states.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use limiter_core::rule::{State, Step, decide};
use limiter_core::{
    Acquire, Budget, BudgetKey, BudgetStore, Capabilities, Clock, Decision, Error, ManualClock,
    Receipt, Record, Refunded, Renewed, RequestId, RuleSet, Snapshot,
};

#[derive(Debug)]
pub(crate) struct KeptStore {
    clock: ManualClock,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    states: HashMap<BudgetKey, Vec<u8>>,
    records: HashMap<RequestId, Record>,
}

impl KeptStore {
    pub(crate) fn new(clock: &ManualClock) -> Self {
        Self {
            clock: clock.clone(),
            kept: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }
}

impl Kept {
    fn load(&self, budget: &Budget) -> Result<Option<State>, Error> {
        let bytes = self.states.get(&budget.key());
        bytes
            .map(|bytes| State::from_bytes(bytes, budget))
            .transpose()
    }

    fn save(&mut self, budget: &Budget, state: &State) {
        self.states.insert(budget.key(), state.to_bytes());
    }
}

#[async_trait]
impl BudgetStore for KeptStore {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        request.check(&self.capabilities(), self)?;
        let mut kept = self.lock();
        let now = self.clock.now();
        if let Some(remembered) = request.remembered()
            && let Some(record) = kept.records.get(remembered.id())
            && record.contains(now)
        {
            return record.repeat(request).map(Decision::Admitted);
        }
        let budgets = request.charges().iter().map(|charge| charge.budget());
        let stored: Result<Vec<_>, _> = budgets.clone().map(|budget| kept.load(budget)).collect();
        match decide(request, stored?, now)? {
            Step::Deny(denial) => Ok(Decision::Denied(denial)),
            Step::Admit { admission, states } => {
                for (budget, state) in budgets.zip(&states) {
                    kept.save(budget, state);
                }
                if let Some(record) = Record::of(request, &admission, now) {
                    let id = request.remembered().unwrap().id().clone();
                    kept.records.insert(id, record);
                }
                Ok(Decision::Admitted(admission))
            }
        }
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.capabilities().check(budget.policy(), self)?;
        let stored = self.lock().load(budget)?;
        State::peek(stored.as_ref(), self.clock.now(), budget)
    }

    fn capabilities(&self) -> Capabilities {
        let mut offered = Capabilities::in_process();
        offered.rules = RuleSet::ALL;
        offered.refunds = RuleSet::ALL;
        offered.request_ids = true;
        offered.resets = true;
        offered.max_charges = Acquire::MAX_CHARGES;
        offered
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        let mut kept = self.lock();
        let now = self.clock.now();
        let record = receipt.request().and_then(|id| kept.records.get(id));
        if let Some(decided) = Record::refund(record, now, &receipt) {
            return Ok(decided);
        }
        let Some(mut state) = kept.load(receipt.budget())? else {
            return Ok(Refunded::Late);
        };
        let refunded = state.refund(now, &receipt)?;
        if let Refunded::Credited { .. } = refunded {
            kept.save(receipt.budget(), &state);
            if let Some(record) = receipt.request().and_then(|id| kept.records.get_mut(id)) {
                record.refunded(&receipt);
            }
        }
        Ok(refunded)
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        let mut kept = self.lock();
        let Some(mut state) = kept.load(receipt.budget())? else {
            return Ok(Renewed::Lost);
        };
        let renewed = state.renew(self.clock.now(), receipt)?;
        kept.save(receipt.budget(), &state);
        Ok(renewed)
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        self.lock().states.remove(&budget.key());
        Ok(())
    }
}

impl fmt::Display for KeptStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeptStore")
    }
}
