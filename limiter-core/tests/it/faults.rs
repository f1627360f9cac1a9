//! Ways to break the contract, one clause each.

use std::time::Duration;

use limiter_core::rule::State;
use limiter_core::rule::first_arrival::Window;
use limiter_core::{
    Acquire, Budget, Charge, Grant, Limit, Policy, Receipt, RuleKind, TimeRule, Timestamp, Wait,
    WindowIdentity,
};

/// What a [`KeptStore`](crate::kept::KeptStore) does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Reads and judges, lets others go on, and then writes.
    SplitsReadAndWrite,
    /// Charges all but one unit, lets others go on, and then charges the last.
    ChargesInTwoSteps,
    /// Moves the end of a window at every admission.
    SlidesWindows,
    /// Moves the end of a window when it denies what can never be admitted.
    ExtendsByDenials,
    /// Counts denials like admissions.
    ChargesDenials,
    /// Tells the total without the charge that it admits.
    TellsTotalsBefore,
    /// Leaves a mark when it looks at a budget that was never used.
    OpensByLooking,
    /// Tells PTTL as the wait: a millisecond too little.
    WaitsTooShort,
    /// Tells a wait until the window ends for costs that no window admits.
    WaitsForNever,
    /// Goes by the limit that it saw first.
    KeepsTheFirstLimit,
    /// Has 32 bits for a limit.
    CountsIn32Bits,
    /// Keeps the first 4,096 bytes of a key.
    CutsKeys,
    /// Makes the policy's name part of the key.
    NamesKeys,
    /// Serves a rule that it does not declare.
    ServesTheUnoffered,
    /// Charges budgets of several identities, and declares that it does not.
    ServesSeveralIdentities,
    /// Keeps rolling windows as windows from the first arrival.
    RollsByWindows,
    /// Counts aligned windows from the first arrival.
    AlignsByArrival,
    /// Lets a bucket's credit come back all at once.
    RefillsAtOnce,
    /// Sets no deadline where one admission takes the whole limit.
    ForgetsADeadline,
    /// Takes a window that has not begun yet for one that is over.
    ReopensInThePast,
    /// Charges each budget that admits, whatever the others say.
    ChargesEachForItself,
    /// Lists the first budget that denied.
    NamesTheFirstDenial,
    /// Gives back the latest charge of a window only.
    RefundsTheLatest,
    /// Gives back the whole charge of a settled receipt.
    IgnoresSettling,
    /// Does not remember which charges were refunded.
    RefundsTwice,
    /// Takes a late refund of a rolling window from whatever is there.
    RefundsLate,
    /// Compares half of a window's identity.
    ComparesHalfIdentities,
    /// Ends a window a second later for each refund.
    MovesDeadlineByRefunds,
    /// Says that it renewed a lease, and does not.
    RenewsInWords,
    /// Renews a lease that has ended.
    RenewsTheLost,
    /// Charges a repeat again.
    ChargesRepeats,
    /// Does not compare what is asked under an id.
    IgnoresDigests,
    /// Repeats a denial.
    RemembersDenials,
    /// Keeps records for ever.
    NeverForgetsRequests,
    /// Repeats an admission that was refunded.
    RepeatsTheRefunded,
    /// Does not ask the record before a refund.
    RefundsEveryRepeat,
    /// Says that it has reset a budget, and does not.
    ResetsInWords,
}

impl Fault {
    /// Each fault, and the one clause that it breaks.
    pub(crate) const ALL: [(Self, &'static str); 37] = [
        (Self::SplitsReadAndWrite, "atomic"),
        (Self::ChargesInTwoSteps, "dropped"),
        (Self::SlidesWindows, "anchored"),
        (Self::ExtendsByDenials, "inert"),
        (Self::ChargesDenials, "inert"),
        (Self::TellsTotalsBefore, "exact-accounting"),
        (Self::OpensByLooking, "peek"),
        (Self::WaitsTooShort, "honest-wait"),
        (Self::WaitsForNever, "never"),
        (Self::KeepsTheFirstLimit, "changed-limits"),
        (Self::CountsIn32Bits, "bounded-numbers"),
        (Self::CutsKeys, "identities"),
        (Self::NamesKeys, "keys"),
        (Self::ServesTheUnoffered, "not-offered"),
        (Self::ServesSeveralIdentities, "not-offered"),
        (Self::RollsByWindows, "rule"),
        (Self::AlignsByArrival, "rule"),
        (Self::RefillsAtOnce, "rule"),
        (Self::ForgetsADeadline, "deadline-always"),
        (Self::ReopensInThePast, "store-time"),
        (Self::ChargesEachForItself, "all-or-nothing"),
        (Self::NamesTheFirstDenial, "names-every-denial"),
        (Self::RefundsTheLatest, "refund"),
        (Self::IgnoresSettling, "settle"),
        (Self::RefundsTwice, "refund-once"),
        (Self::RefundsLate, "refund-late"),
        (Self::ComparesHalfIdentities, "refund-own-window"),
        (Self::MovesDeadlineByRefunds, "refund-keeps-deadline"),
        (Self::RenewsInWords, "renew"),
        (Self::RenewsTheLost, "renew-lost"),
        (Self::ChargesRepeats, "request-id"),
        (Self::IgnoresDigests, "request-id-other"),
        (Self::RemembersDenials, "request-id-denied"),
        (Self::NeverForgetsRequests, "request-id-life"),
        (Self::RepeatsTheRefunded, "request-id-refunded"),
        (Self::RefundsEveryRepeat, "request-id-refund-once"),
        (Self::ResetsInWords, "reset"),
    ];

    /// Under what a budget is kept.
    pub(crate) fn key(self, budget: &Budget) -> Vec<u8> {
        let mut key = budget.key().as_bytes().to_vec();
        match self {
            Self::CutsKeys => key.truncate(4096),
            Self::NamesKeys => key.extend(budget.policy().name().bytes()),
            _ => {}
        }
        key
    }

    /// By what policy a budget is decided.
    pub(crate) fn policy(self, policy: &Policy, first_limit: Limit) -> Policy {
        let limit = match self {
            Self::CountsIn32Bits => policy.limit().min(Limit::new(u64::from(u32::MAX)).unwrap()),
            Self::KeepsTheFirstLimit => first_limit,
            _ => policy.limit(),
        };
        let takes_for_a_window = match self {
            Self::RollsByWindows => Some(RuleKind::Rolling),
            Self::AlignsByArrival => Some(RuleKind::Aligned),
            Self::RefillsAtOnce => Some(RuleKind::TokenBucket),
            _ => None,
        };
        let is_taken = takes_for_a_window == Some(policy.rule().kind());
        if limit == policy.limit() && (!is_taken || policy.is_refundable()) {
            return policy.clone();
        }
        let length = Duration::from(policy.rule().length());
        let built = Policy::named(policy.name())
            .unit(policy.unit())
            .scope(policy.scope());
        let built = built.limit(limit.get());
        let built = match policy.rule() {
            _ if is_taken => built.first_arrival(length),
            TimeRule::Aligned { .. } => built.aligned(length),
            TimeRule::Rolling { .. } => built.rolling(length),
            TimeRule::TokenBucket { .. } => built.token_bucket(length, limit.get()),
            TimeRule::InFlight { .. } => built.in_flight(length),
            _ => built.first_arrival(length),
        };
        let refundable = policy.is_refundable();
        let built = if refundable {
            built.refundable()
        } else {
            built
        };
        built.build().unwrap()
    }

    /// What it takes a stored state for.
    pub(crate) fn loaded(self, state: State, now: Timestamp, policy: &Policy) -> Option<State> {
        let opened_later = |window: &Window| {
            window.deadline.millis_since(now) > policy.rule().length().as_millis()
        };
        match state {
            State::Window(window) if self == Self::ReopensInThePast && opened_later(&window) => {
                None
            }
            state => Some(state),
        }
    }

    /// What it stores for an admission, and tells of it.
    pub(crate) fn admitted(
        self,
        (state, mut grant): (State, Grant),
        now: Timestamp,
        charge: &Charge,
    ) -> (State, Grant) {
        let (policy, cost) = (charge.budget().policy(), charge.cost().get());
        if self == Self::TellsTotalsBefore {
            grant.total -= cost;
        }
        let State::Window(mut window) = state else {
            return (state, grant);
        };
        match self {
            Self::SlidesWindows if window.total > cost => {
                window.deadline = now.plus_millis(policy.rule().length().as_millis());
                grant.resets_in = window.resets_in(now);
            }
            Self::ForgetsADeadline if cost == policy.limit().get() => {
                window.deadline = window.deadline.plus_millis(1_000_000_000);
            }
            _ => {}
        }
        (State::Window(window), grant)
    }

    /// What it stores for a denial, if anything.
    pub(crate) fn denied(self, state: Option<State>, charge: &Charge) -> Option<State> {
        let (units, limit) = (charge.cost().get(), charge.budget().policy().limit().get());
        let Some(State::Window(mut window)) = state else {
            return None;
        };
        match self {
            Self::ExtendsByDenials if units > limit => {
                window.deadline = window.deadline.plus_millis(1)
            }
            Self::ChargesDenials => window.total += units,
            _ => return None,
        }
        Some(State::Window(window))
    }

    /// The wait that it tells.
    pub(crate) fn wait(self, wait: Wait) -> Wait {
        match (self, wait) {
            (Self::WaitsTooShort, Wait::For(wait)) => Wait::For(wait - Duration::from_millis(1)),
            (Self::WaitsForNever, Wait::Never) => Wait::For(Duration::from_secs(1)),
            (_, wait) => wait,
        }
    }

    /// The receipt as it takes it; `None` where it calls it late.
    pub(crate) fn receipt(self, receipt: Receipt, state: &State) -> Option<Receipt> {
        let again = |window, serial| Receipt::new(receipt.budget(), window, serial, receipt.cost());
        let (window, serial) = (receipt.window(), receipt.serial());
        match (self, state) {
            (Self::RefundsTheLatest, State::Refundable(kept)) if serial < kept.charged() => None,
            (Self::IgnoresSettling, _) if receipt.credit() < receipt.cost() => {
                Some(again(window, serial))
            }
            (Self::ComparesHalfIdentities, State::Refundable(kept)) => {
                let mut half = window.0;
                half[..8].copy_from_slice(&kept.identity().0[..8]);
                let is_same = half == window.0;
                Some(if is_same {
                    receipt
                } else {
                    again(WindowIdentity(half), serial)
                })
            }
            (Self::RefundsLate, State::Rolling(rolling)) => {
                let is_there = rolling
                    .entries()
                    .any(|entry| Some(entry.at) == window.instant());
                let last = rolling.entries().last()?;
                Some(if is_there {
                    receipt
                } else {
                    again(WindowIdentity::at(last.at), serial)
                })
            }
            _ => Some(receipt),
        }
    }

    /// What it stores after a refund, in bytes.
    pub(crate) fn refunded(self, state: &State) -> Vec<u8> {
        const DEADLINE: std::ops::Range<usize> = 18..26;
        const SERIALS: usize = 42;
        const NONE: [u8; 8] = [0; 8];
        let mut bytes = state.to_bytes();
        match (self, state) {
            (Self::RefundsTwice, State::Refundable(_)) => {
                bytes.truncate(SERIALS);
                bytes.extend(NONE);
            }
            (Self::MovesDeadlineByRefunds, State::Refundable(window)) => {
                let later = window.deadline().plus_millis(1000).as_millis();
                bytes[DEADLINE].copy_from_slice(&later.to_le_bytes());
            }
            _ => {}
        }
        bytes
    }

    /// Whether a repeat after a refund is let through: of windows, which know by themselves what
    /// was refunded.
    pub(crate) fn forgets_refund(self, receipt: &Receipt) -> bool {
        let kind = receipt.budget().policy().rule().kind();
        self == Self::RepeatsTheRefunded && kind.has_windows()
    }

    /// Whether the admission of `request` is charged in two steps.
    pub(crate) fn steps(self, request: &Acquire) -> bool {
        let ([charge], None) = (request.charges(), request.remembered()) else {
            return false;
        };
        let plain = !charge.budget().policy().gives_receipts();
        let window = charge.budget().policy().rule().kind().has_windows();
        self == Self::ChargesInTwoSteps && charge.cost().get() > 1 && plain && window
    }
}
