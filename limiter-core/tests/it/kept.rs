//! A store that keeps the whole contract in the plainest way: one lock around a map of states. With a
//! [`Fault`] it breaks one clause.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use limiter_core::rule::{State, Verdict};
use limiter_core::{
    Acquire, Admission, Budget, BudgetStore, Capabilities, Charge, Clock, Cost, Decision, Denial,
    Error, Grant, Limit, ManualClock, Nonce, Receipt, Record, Refunded, Refusal, Renewed,
    RequestId, RuleKind, RuleSet, Snapshot, Together,
};

use crate::faults::Fault;

#[derive(Debug)]
pub(crate) struct KeptStore {
    clock: ManualClock,
    fault: Fault,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
pub(crate) struct Kept {
    states: HashMap<Vec<u8>, Vec<u8>>,
    records: HashMap<RequestId, (Acquire, Record)>,
    // What only a fault needs.
    denials: HashMap<RequestId, Denial>,
    first_limits: HashMap<Vec<u8>, Limit>,
    looked_at: HashSet<Vec<u8>>,
}

/// One charge: as it was asked, as it is decided, and what is stored for it.
struct Aimed {
    asked: Budget,
    charge: Charge,
    key: Vec<u8>,
    stored: Option<State>,
    verdict: Verdict,
}

impl KeptStore {
    pub(crate) fn new(clock: &ManualClock) -> Self {
        Self::with(clock, Fault::None)
    }

    pub(crate) fn with(clock: &ManualClock, fault: Fault) -> Self {
        Self {
            clock: clock.clone(),
            fault,
            kept: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }

    /// The budget as it is decided, and its key.
    fn find(&self, kept: &mut Kept, asked: &Budget) -> (Budget, Vec<u8>) {
        let (key, limit) = (self.fault.key(asked), asked.policy().limit());
        let first = *kept.first_limits.entry(key.clone()).or_insert(limit);
        (asked.under(&self.fault.policy(asked.policy(), first)), key)
    }

    fn load(&self, kept: &Kept, key: &[u8], budget: &Budget) -> Result<Option<State>, Error> {
        let Some(bytes) = kept.states.get(key) else {
            return Ok(None);
        };
        let state = State::from_bytes(bytes, budget)?;
        Ok(self.fault.loaded(state, self.clock.now(), budget.policy()))
    }

    fn judge(&self, kept: &mut Kept, request: &Acquire) -> Result<Vec<Aimed>, Error> {
        let mut all = Vec::new();
        for asked in request.charges() {
            let (budget, key) = self.find(kept, asked.budget());
            let stored = self.load(kept, &key, &budget)?;
            let charge = Charge::new(budget, asked.cost());
            let now = self.clock.now();
            let verdict = State::judge(stored.as_ref(), now, &charge, request.nonce())?;
            all.push(Aimed {
                asked: asked.budget().clone(),
                charge,
                key,
                stored,
                verdict,
            });
        }
        Ok(all)
    }

    fn write(&self, kept: &mut Kept, aimed: Aimed, nonce: Option<Nonce>) -> Result<Grant, Error> {
        let now = self.clock.now();
        let charged = State::charge(aimed.stored, now, &aimed.charge, nonce)?;
        let (state, grant) = self.fault.admitted(charged, now, &aimed.charge);
        kept.looked_at.remove(&aimed.key);
        kept.states.insert(aimed.key, state.to_bytes());
        Ok(grant)
    }

    fn admit(
        &self,
        kept: &mut Kept,
        request: &Acquire,
        all: Vec<Aimed>,
    ) -> Result<Decision, Error> {
        let all = all.into_iter();
        let grants: Result<Vec<Grant>, Error> = all
            .map(|aimed| self.write(kept, aimed, request.nonce()))
            .collect();
        let mut admission = Admission::new(grants?);
        if let Some(remembered) = request.remembered() {
            admission = admission.of_request(remembered.id());
            if let Some(record) = Record::of(request, &admission, self.clock.now()) {
                let kept_record = (request.clone(), record);
                kept.records.insert(remembered.id().clone(), kept_record);
            }
        }
        Ok(Decision::Admitted(admission))
    }

    fn deny(&self, kept: &mut Kept, request: &Acquire, all: Vec<Aimed>) -> Result<Decision, Error> {
        let mut refusals = Vec::new();
        for aimed in all {
            if let Verdict::Deny { remaining, wait } = aimed.verdict {
                refusals.push(Refusal {
                    budget: aimed.asked,
                    remaining,
                    wait: self.fault.wait(wait),
                });
                if let Some(state) = self.fault.denied(aimed.stored, &aimed.charge) {
                    kept.states.insert(aimed.key, state.to_bytes());
                }
            } else if self.fault == Fault::ChargesEachForItself {
                self.write(kept, aimed, request.nonce())?;
            }
        }
        if self.fault == Fault::NamesTheFirstDenial {
            refusals.truncate(1);
        }
        let denial = Denial::new(refusals);
        if let Some(remembered) = request.remembered() {
            kept.denials.insert(remembered.id().clone(), denial.clone());
        }
        Ok(Decision::Denied(denial))
    }

    /// The answer that is remembered for `request`, if there is one.
    fn repeat(&self, kept: &mut Kept, request: &Acquire) -> Option<Result<Decision, Error>> {
        let id = request.remembered()?.id();
        if self.fault == Fault::RemembersDenials
            && let Some(denial) = kept.denials.get(id)
        {
            return Some(Ok(Decision::Denied(denial.clone())));
        }
        let (first, record) = kept.records.get(id)?;
        let is_over = !record.contains(self.clock.now());
        if is_over && self.fault != Fault::NeverForgetsRequests {
            return None;
        }
        let compared = if self.fault == Fault::IgnoresDigests {
            first
        } else {
            request
        };
        let repeated = record.repeat(compared).map(Decision::Admitted);
        // A lease would be told by its nonce.
        let kind = request.charges()[0].budget().policy().rule().kind();
        if self.fault == Fault::ChargesRepeats && kind != RuleKind::InFlight && repeated.is_ok() {
            for aimed in self.judge(kept, request).ok()? {
                self.write(kept, aimed, request.nonce()).ok()?;
            }
        }
        Some(repeated)
    }

    async fn charge_in_two_steps(&self, request: &Acquire) -> Result<Decision, Error> {
        let [charge] = request.charges() else {
            unreachable!("a fault of single charges");
        };
        let (budget, cost) = (charge.budget(), charge.cost().get());
        let but_one = Acquire::one(budget.clone(), Cost::new(cost - 1)?);
        let all = self.judge(&mut self.lock(), &but_one)?;
        let _ = self.admit(&mut self.lock(), &but_one, all)?;
        others_go_on().await;
        let one = Acquire::one(budget.clone(), Cost::ONE);
        let all = self.judge(&mut self.lock(), &one)?;
        self.admit(&mut self.lock(), &one, all)
    }

    fn refund_known(&self, kept: &mut Kept, receipt: Receipt) -> Result<Refunded, Error> {
        let now = self.clock.now();
        let key = self.fault.key(receipt.budget());
        let Some(mut state) = self.load(kept, &key, receipt.budget())? else {
            return Ok(Refunded::Late);
        };
        let Some(receipt) = self.fault.receipt(receipt, &state) else {
            return Ok(Refunded::Late);
        };
        let refunded = state.refund(now, &receipt)?;
        if let Refunded::Credited { .. } = refunded {
            kept.states.insert(key, self.fault.refunded(&state));
            let record = receipt.request().and_then(|id| kept.records.get_mut(id));
            if let Some((_, record)) = record.filter(|_| !self.fault.forgets_refund(&receipt)) {
                record.refunded(&receipt);
            }
        }
        Ok(refunded)
    }
}

/// Pending once.
async fn others_go_on() {
    let mut is_first = true;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        match std::mem::take(&mut is_first) {
            true => std::task::Poll::Pending,
            false => std::task::Poll::Ready(()),
        }
    })
    .await;
}

#[async_trait]
impl BudgetStore for KeptStore {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        let mut offered = self.capabilities();
        if self.fault == Fault::ServesTheUnoffered {
            offered.rules = RuleSet::ALL;
        }
        request.check(&offered, self)?;
        let all = {
            let mut kept = self.lock();
            if let Some(repeated) = self.repeat(&mut kept, request) {
                return repeated;
            }
            let all = self.judge(&mut kept, request)?;
            if all.iter().any(|aimed| aimed.verdict != Verdict::Admit) {
                return self.deny(&mut kept, request, all);
            }
            match self.fault {
                Fault::SplitsReadAndWrite | Fault::ChargesInTwoSteps => all,
                _ => return self.admit(&mut kept, request, all),
            }
        };
        if self.fault.steps(request) {
            return self.charge_in_two_steps(request).await;
        }
        if self.fault == Fault::SplitsReadAndWrite {
            others_go_on().await;
        }
        self.admit(&mut self.lock(), request, all)
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.capabilities().check(budget.policy(), self)?;
        let mut kept = self.lock();
        let (budget, key) = self.find(&mut kept, budget);
        let stored = self.load(&kept, &key, &budget)?;
        let mut seen = State::peek(stored.as_ref(), self.clock.now(), &budget)?;
        let is_first = kept.looked_at.insert(key);
        if self.fault == Fault::OpensByLooking && !is_first && seen.resets_in.is_none() {
            seen.resets_in = Some(Duration::from_secs(1));
        }
        Ok(seen)
    }

    fn capabilities(&self) -> Capabilities {
        let mut offered = Capabilities::in_process();
        offered.rules = RuleSet::ALL;
        offered.refunds = RuleSet::ALL;
        offered.request_ids = true;
        offered.resets = true;
        offered.max_charges = Acquire::MAX_CHARGES;
        if self.fault == Fault::ServesTheUnoffered {
            offered.rules = offered.rules.without(RuleKind::Rolling);
        }
        if self.fault == Fault::ServesSeveralIdentities {
            offered.together = Together::OneIdentity;
        }
        offered
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        let mut kept = self.lock();
        let record = receipt.request().and_then(|id| kept.records.get(id));
        let record = record.map(|(_, record)| record);
        if let Some(decided) = Record::refund(record, self.clock.now(), &receipt)
            && self.fault != Fault::RefundsEveryRepeat
        {
            return Ok(decided);
        }
        self.refund_known(&mut kept, receipt)
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        let mut kept = self.lock();
        let (key, budget) = (self.fault.key(receipt.budget()), receipt.budget());
        let length = Duration::from(budget.policy().rule().length());
        let ends_in = length + Duration::from_millis(1);
        let Some(mut state) = self.load(&kept, &key, budget)? else {
            return Ok(Renewed::Lost);
        };
        let renewed = state.renew(self.clock.now(), receipt)?;
        if self.fault != Fault::RenewsInWords {
            kept.states.insert(key, state.to_bytes());
        }
        Ok(match self.fault {
            Fault::RenewsTheLost => Renewed::Extended { ends_in },
            _ => renewed,
        })
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        if self.fault != Fault::ResetsInWords {
            self.lock().states.remove(&self.fault.key(budget));
        }
        Ok(())
    }
}

impl fmt::Display for KeptStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeptStore({:?})", self.fault)
    }
}
