//! Not asking a store again what it has just denied.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ahash::RandomState;
use async_trait::async_trait;

use crate::{
    Acquire, Budget, BudgetStore, Capabilities, Charge, Clock, Decision, Denial, Error, Receipt,
    Refunded, Refusal, Renewed, RuleKind, Snapshot, Timestamp, Wait,
};

/// Remembers that a budget of `S` denies, by `C`'s time, so that a flood of denied calls is answered
/// here. It admits nothing by itself, so it never admits more than `S`.
///
/// What is remembered of a denial holds for its budget under its limit (and burst), until the instant *at which
/// the call was sent* plus the wait that it was told: a slow answer ends it early, never late.
///
/// | rule | denies without asking |
/// |---|---|
/// | first-arrival, aligned | costs above what remained |
/// | rolling, token bucket | costs at or above the denied one; a larger one is told the wait of that one, which can be shorter than its own |
/// | in-flight | nothing: a lease can be released at any time |
///
/// With a limit of 5, all spent, and 40 s left of the window, the next call is denied by `S`, and
/// all that come within 40 s of it here; but for one each `recheck`, which asks `S`.
///
/// Asked every time are acquires of several charges, those with a request id, and costs above the limit.
/// A refund or a reset through this value ends what it remembers of the budget at once, also when it
/// fails or is dropped. What other processes give back or reset, a limit that they raise, and a loss of
/// what `S` holds are seen after at most `recheck` and the time that a call takes; while `S` answers
/// with errors, denials go on until their end. [`Capabilities::stale_denials`] says so.
///
/// A denial takes one of four places that its budget alone decides. Where others hold all four, it pushes
/// out the one that ends first: whoever asks for that one asks `S` again. The memory is one for this
/// value and everything that points to it; each process has its own.
#[derive(Debug)]
pub struct RememberingStore<S, C> {
    inner: S,
    clock: C,
    recheck_ms: u64,
    hasher: RandomState,
    sets: Box<[Mutex<Set>]>,
}

/// Places in a set: with as many budgets as places, one place for each would let two in five push
/// each other out.
const PLACES: usize = 4;

#[derive(Debug, Default)]
struct Set {
    places: [Option<Known>; PLACES],
    /// How often something here was given back or reset: a denial that was sent before is not
    /// remembered after.
    forgotten: u64,
}

/// A denial, as it was told.
#[derive(Debug)]
struct Known {
    budget: Budget,
    /// The limit and the burst by which it was denied.
    terms: [u64; 2],
    cost: u64,
    remaining: u64,
    sent: Timestamp,
    until: Timestamp,
    next_check: Timestamp,
}

/// What is to be done with a call.
enum Answer {
    Deny(Denial),
    Ask { forgotten: u64 },
}

impl<S, C: Clock> RememberingStore<S, C> {
    /// How often a budget that denies is asked again, unless it is said: once a second.
    pub const RECHECK: Duration = Duration::from_secs(1);

    /// Remembers denials of `inner` for at most `most` budgets at a time, rounded up to a multiple of
    /// four. Every acquire reads `clock` once, so a cheap one is worth having: `CounterClock` of
    /// limiter-memory takes half the time of [`SystemClock`](crate::SystemClock).
    pub fn new(inner: S, clock: C, most: NonZeroUsize) -> Self {
        Self {
            inner,
            clock,
            recheck_ms: millis(Self::RECHECK),
            hasher: RandomState::with_seeds(1, 2, 3, 4),
            sets: (0..most.get().div_ceil(PLACES))
                .map(|_| Mutex::default())
                .collect(),
        }
    }

    /// Asks again for each budget that denies once per `recheck`, in whole milliseconds, rounded up. 0
    /// asks every time.
    #[must_use]
    pub fn recheck(self, recheck: Duration) -> Self {
        let recheck_ms = millis(recheck);
        Self { recheck_ms, ..self }
    }

    fn set(&self, budget: &Budget) -> MutexGuard<'_, Set> {
        // Not keyed: whoever finds budgets that meet in one set wins nothing but that their denials
        // are asked for.
        let mut hasher = self.hasher.build_hasher();
        budget.policy().key_space().id().hash(&mut hasher);
        budget.identity().hash(&mut hasher);
        let set = hasher.finish() % self.sets.len() as u64;
        let set = &self.sets[set as usize];
        // A place is only ever changed whole.
        set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Denies `charge`, or lets it through, at `now`.
    fn look(&self, charge: &Charge, now: Timestamp) -> Answer {
        let mut set = self.set(charge.budget());
        let forgotten = set.forgotten;
        let Some(place) = set.place_of(charge) else {
            return Answer::Ask { forgotten };
        };
        // A clock that was set back does not make a denial last longer.
        let Some(known) = place.as_mut().filter(|known| known.holds_at(now)) else {
            *place = None;
            return Answer::Ask { forgotten };
        };
        if !known.denies(charge) {
            return Answer::Ask { forgotten };
        }
        if now >= known.next_check {
            known.next_check = now.plus_millis(self.recheck_ms);
            return Answer::Ask { forgotten };
        }
        Answer::Deny(Denial::new([Refusal {
            budget: charge.budget().clone(),
            remaining: known.remaining,
            wait: Wait::For(Duration::from_millis(known.until.millis_since(now))),
        }]))
    }

    /// Keeps in mind what was decided on a call that was sent at `sent`.
    fn learn(&self, charge: &Charge, sent: Timestamp, forgotten: u64, decision: &Decision) {
        let budget = charge.budget();
        let mut set = self.set(budget);
        let refusal = match decision {
            Decision::Denied(denial) => &denial.refusals()[0],
            Decision::Admitted(_) => {
                if let Some(place) = set.place_of(charge) {
                    *place = None;
                }
                return;
            }
        };
        let Some(wait) = refusal.wait.duration() else {
            return;
        };
        if set.forgotten != forgotten {
            return;
        }
        let place = set.place_for(charge, sent);
        let later = place.as_ref().filter(|known| known.is_of(charge));
        if later.is_some_and(|known| sent < known.sent) {
            return;
        }
        *place = Some(Known {
            budget: budget.clone(),
            terms: terms(budget),
            cost: charge.cost().get(),
            remaining: refusal.remaining,
            sent,
            until: sent.plus_millis(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            next_check: sent.plus_millis(self.recheck_ms),
        });
    }

    /// Ends what is remembered of `budget`, now and when the returned value is dropped: what is denied
    /// meanwhile may be older than what gives it back.
    fn forget<'a>(&'a self, budget: &'a Budget) -> Forgetting<'a, S, C> {
        self.forget_once(budget);
        Forgetting {
            store: self,
            budget,
        }
    }

    fn forget_once(&self, budget: &Budget) {
        let mut set = self.set(budget);
        set.forgotten += 1;
        for place in &mut set.places {
            if place.as_ref().is_some_and(|known| known.budget == *budget) {
                *place = None;
            }
        }
    }
}

impl Set {
    /// Where a denial of this charge is remembered, if one is.
    fn place_of(&mut self, charge: &Charge) -> Option<&mut Option<Known>> {
        let is_of = |place: &&mut Option<Known>| {
            let known = place.as_ref();
            known.is_some_and(|known| known.is_of(charge))
        };
        self.places.iter_mut().find(is_of)
    }

    /// Where a denial of this charge is to be remembered: where one is, or where there is none that
    /// holds, or else where the one is that ends first.
    fn place_for(&mut self, charge: &Charge, now: Timestamp) -> &mut Option<Known> {
        let worth = |place: &&mut Option<Known>| match place {
            Some(known) if known.is_of(charge) => (0, known.until),
            Some(known) if known.holds_at(now) => (2, known.until),
            _ => (1, now),
        };
        let places = self.places.iter_mut();
        places.min_by_key(worth).expect("a set has places")
    }
}

impl Known {
    fn holds_at(&self, now: Timestamp) -> bool {
        (self.sent..self.until).contains(&now)
    }

    fn is_of(&self, charge: &Charge) -> bool {
        let budget = charge.budget();
        self.budget == *budget && self.terms == terms(budget)
    }

    fn denies(&self, charge: &Charge) -> bool {
        let (policy, cost) = (charge.budget().policy(), charge.cost());
        // That is denied for ever, and is told so by the store.
        if cost.get() > policy.largest_cost().get() {
            return false;
        }
        match policy.rule().kind().has_windows() {
            true => cost.get() > self.remaining,
            false => cost.get() >= self.cost,
        }
    }
}

struct Forgetting<'a, S, C: Clock> {
    store: &'a RememberingStore<S, C>,
    budget: &'a Budget,
}

impl<S, C: Clock> Drop for Forgetting<'_, S, C> {
    fn drop(&mut self) {
        self.store.forget_once(self.budget);
    }
}

fn terms(budget: &Budget) -> [u64; 2] {
    let policy = budget.policy();
    [policy.limit().get(), policy.largest_cost().get()]
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// The charge of which a denial can be remembered.
fn charge(request: &Acquire) -> Option<&Charge> {
    match (request.charges(), request.remembered()) {
        ([charge], None) => {
            let kind = charge.budget().policy().rule().kind();
            (kind != RuleKind::InFlight).then_some(charge)
        }
        _ => None,
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: BudgetStore, C: Clock> BudgetStore for RememberingStore<S, C> {
    async fn acquire(&self, request: &Acquire) -> Result<Decision, Error> {
        let Some(charge) = charge(request) else {
            return self.inner.acquire(request).await;
        };
        let sent = self.clock.now();
        let forgotten = match self.look(charge, sent) {
            Answer::Deny(denial) => return Ok(Decision::Denied(denial)),
            Answer::Ask { forgotten } => forgotten,
        };
        let decision = self.inner.acquire(request).await?;
        self.learn(charge, sent, forgotten, &decision);
        Ok(decision)
    }

    async fn peek(&self, budget: &Budget) -> Result<Snapshot, Error> {
        self.inner.peek(budget).await
    }

    fn capabilities(&self) -> Capabilities {
        let recheck = Duration::from_millis(self.recheck_ms);
        let mut capabilities = self.inner.capabilities();
        capabilities.stale_denials = capabilities.stale_denials.max(Some(recheck));
        capabilities
    }

    async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        let budget = receipt.budget().clone();
        let _forgetting = self.forget(&budget);
        self.inner.refund(receipt).await
    }

    async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        self.inner.renew(receipt).await
    }

    async fn reset(&self, budget: &Budget) -> Result<(), Error> {
        let _forgetting = self.forget(budget);
        self.inner.reset(budget).await
    }
}

impl<S: fmt::Display, C> fmt::Display for RememberingStore<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RememberingStore({})", self.inner)
    }
}
