//! What the answers have to be: the state machines of the contract on a map.

use std::collections::HashMap;

use limiter_core::rule::{State, Step, decide};
use limiter_core::{
    Acquire, Budget, BudgetKey, Decision, Error, Policy, Receipt, Record, Refunded, Renewed,
    RequestId, RuleKind, Snapshot, Timestamp,
};

#[derive(Default)]
pub(crate) struct Reference {
    states: HashMap<BudgetKey, (State, Policy)>,
    records: HashMap<RequestId, Record>,
}

impl Reference {
    /// Drops what a server would have dropped by `now`, because time can step back afterwards. To be
    /// called whenever time has passed.
    pub(crate) fn expire(&mut self, now: Timestamp) {
        self.states.retain(|_, (state, policy)| {
            let kind = policy.rule().kind();
            let later = u64::from(kind != RuleKind::FirstArrival);
            now <= state.deadline(policy).plus_millis(later)
        });
        self.records.retain(|_, record| record.contains(now));
    }

    fn save(&mut self, budget: &Budget, state: State) {
        let value = (state, budget.policy().clone());
        self.states.insert(budget.key(), value);
    }

    fn stored(&self, budget: &Budget) -> Option<State> {
        self.states
            .get(&budget.key())
            .map(|(state, _)| state.clone())
    }

    pub(crate) fn acquire(&mut self, now: Timestamp, request: &Acquire) -> Result<Decision, Error> {
        let id = request.remembered().map(|remembered| remembered.id());
        if let Some(record) = id.and_then(|id| self.records.get(id)) {
            return record.repeat(request).map(Decision::Admitted);
        }
        let budgets = || request.charges().iter().map(|charge| charge.budget());
        let stored: Vec<Option<State>> = budgets().map(|budget| self.stored(budget)).collect();
        match decide(request, stored, now)? {
            Step::Admit { admission, states } => {
                for (budget, state) in budgets().zip(states) {
                    self.save(budget, state);
                }
                if let (Some(id), Some(record)) = (id, Record::of(request, &admission, now)) {
                    self.records.insert(id.clone(), record);
                }
                Ok(Decision::Admitted(admission))
            }
            Step::Deny(denial) => Ok(Decision::Denied(denial)),
        }
    }

    pub(crate) fn refund(&mut self, now: Timestamp, receipt: &Receipt) -> Result<Refunded, Error> {
        let record = receipt.request().and_then(|id| self.records.get(id));
        if let Some(decided) = Record::refund(record, now, receipt) {
            return Ok(decided);
        }
        let budget = receipt.budget();
        let Some(mut state) = self.stored(budget) else {
            return Ok(Refunded::Late);
        };
        let refunded = state.refund(now, receipt)?;
        if !matches!(refunded, Refunded::Credited { .. }) {
            return Ok(refunded);
        }
        match &state {
            // A bucket that is full is not stored.
            State::Bucket(bucket) if bucket.used == 0 => drop(self.states.remove(&budget.key())),
            // Nor is what can no longer deny, once its deadline is set anew: here, where the lease
            // that was released was the last one that lasted.
            state if state.deadline(budget.policy()) < now => {
                self.states.remove(&budget.key());
            }
            _ => self.save(budget, state),
        }
        if let Some(record) = receipt.request().and_then(|id| self.records.get_mut(id)) {
            record.refunded(receipt);
        }
        Ok(refunded)
    }

    pub(crate) fn renew(&mut self, now: Timestamp, receipt: &Receipt) -> Result<Renewed, Error> {
        let budget = receipt.budget();
        if budget.policy().rule().kind() != RuleKind::InFlight {
            return Err(Error::invalid("no lease"));
        }
        let Some(mut state) = self.stored(budget) else {
            return Ok(Renewed::Lost);
        };
        let renewed = state.renew(now, receipt)?;
        if renewed != Renewed::Lost {
            self.save(budget, state);
        }
        Ok(renewed)
    }

    pub(crate) fn peek(&self, now: Timestamp, budget: &Budget) -> Snapshot {
        State::peek(self.stored(budget).as_ref(), now, budget).unwrap()
    }

    pub(crate) fn reset(&mut self, budget: &Budget) {
        self.states.remove(&budget.key());
    }
}
