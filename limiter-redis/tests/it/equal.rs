//! The scripts and the state machines give the same answers to the same calls, whatever they are: every
//! rule, up to four budgets at once, refunds, renewals, request ids, changed limits, nonces that come
//! twice, and clocks that step back. The scripts run on the model, which owns the time.

use std::num::NonZeroU16;
use std::time::Duration;

use futures_util::FutureExt;
use limiter_core::conformance::Form;
use limiter_core::{
    Acquire, Budget, BudgetStore, Charge, Clock, Cost, Decision, Error, ManualClock, Nonce, Policy,
    Receipt, RequestId, RuleKind, Timestamp,
};
use limiter_redis::{HashTags, RedisStore};
use proptest::prelude::*;

use crate::model::Model;
use crate::reference::Reference;

const LIMITS: [u64; 3] = [3, 5, 8];
const PEOPLE: [&str; 2] = ["alice", "bob"];

#[derive(Clone, Debug)]
struct Asked {
    form: usize,
    limit: usize,
    who: usize,
    cost: u64,
}

#[derive(Clone, Debug)]
enum Call {
    Wait(u64),
    SetBack(u64),
    Ask {
        charges: Vec<Asked>,
        id: Option<u8>,
        nonce_of_last: bool,
    },
    Refund {
        receipt: usize,
        used: u64,
    },
    Renew(usize),
    Reset(Asked),
}

fn asked(forms: std::ops::Range<usize>) -> impl Strategy<Value = Asked> {
    let parts = (forms, 0..LIMITS.len(), 0..PEOPLE.len(), 1..6_u64);
    parts.prop_map(|(form, limit, who, cost)| Asked {
        form,
        limit,
        who,
        cost,
    })
}

fn call(forms: std::ops::Range<usize>) -> impl Strategy<Value = Call> {
    let charges = prop_oneof![
        3 => prop::collection::vec(asked(forms.clone()), 1),
        1 => prop::collection::vec(asked(forms.clone()), 2..5),
    ];
    let id = prop_oneof![3 => Just(None), 1 => (0..3_u8).prop_map(Some)];
    let ask = (charges, id, prop::bool::weighted(0.1)).prop_map(|(charges, id, nonce_of_last)| {
        Call::Ask {
            charges,
            id,
            nonce_of_last,
        }
    });
    let refund = (0..8_usize, prop_oneof![2 => Just(0), 1 => 0..4_u64]);
    prop_oneof![
        4 => prop_oneof![0..3_u64, 0..40_u64, 0..130_u64].prop_map(Call::Wait),
        1 => (0..30_u64).prop_map(Call::SetBack),
        10 => ask,
        4 => refund.prop_map(|(receipt, used)| Call::Refund { receipt, used }),
        2 => (0..8_usize).prop_map(Call::Renew),
        1 => asked(forms).prop_map(Call::Reset),
    ]
}

/// A policy of a form; its length is 100 ms but for one of 7, which cuts elsewhere.
fn policy(form: usize, limit: u64) -> Policy {
    let length = Duration::from_millis([100, 7][usize::from(form % 4 == 3)]);
    let built = Policy::named("equal").scope("tests").limit(limit);
    let built = match Form::ALL[form].rule {
        RuleKind::FirstArrival => built.first_arrival(length),
        RuleKind::Aligned => built.aligned(length),
        RuleKind::Rolling => built.rolling(length),
        RuleKind::TokenBucket => built.token_bucket(length, limit - 1),
        _ => built.in_flight(length),
    };
    let built = match Form::ALL[form].refundable {
        true => built.refundable(),
        false => built,
    };
    built.build().unwrap()
}

fn budget(asked: &Asked) -> Budget {
    Budget::of(&policy(asked.form, LIMITS[asked.limit]), PEOPLE[asked.who])
}

/// Both sides of the comparison.
struct Pair {
    clock: ManualClock,
    model: Model,
    store: RedisStore<Model>,
    reference: Reference,
    receipts: Vec<(Receipt, Receipt)>,
    nonces: u128,
    last: Vec<Asked>,
}

impl Pair {
    fn new() -> Self {
        let clock = ManualClock::at(Timestamp::from_millis(1_700_000_000_000));
        let model = Model::on(clock.clone());
        let store = RedisStore::new(model.clone());
        Self {
            store: store.with_hash_tags(HashTags::Partitions(NonZeroU16::MIN)),
            clock,
            model,
            reference: Reference::default(),
            receipts: Vec::new(),
            nonces: 0,
            last: Vec::new(),
        }
    }

    fn make(&mut self, call: &Call) {
        let now = self.clock.now();
        match call {
            Call::Wait(ms) => {
                self.clock.advance(Duration::from_millis(*ms));
                self.model.expire();
                self.reference.expire(self.clock.now());
            }
            Call::SetBack(ms) => {
                let back = now.as_millis() - ms;
                self.clock.set(Timestamp::from_millis(back));
            }
            // Of the same charges: a receipt says how many permits its nonce names.
            Call::Ask {
                id, nonce_of_last, ..
            } if *nonce_of_last => self.ask(&self.last.clone(), *id, true),
            Call::Ask { charges, id, .. } => self.ask(charges, *id, false),
            Call::Refund { receipt, used } => self.refund(*receipt, *used),
            Call::Renew(place) => {
                let Some((ours, theirs)) = self.receipts.get(*place) else {
                    return;
                };
                let ours = self.store.renew(ours).now_or_never().unwrap();
                same(&ours, &self.reference.renew(now, theirs));
            }
            Call::Reset(asked) => {
                let budget = budget(asked);
                self.store.reset(&budget).now_or_never().unwrap().unwrap();
                self.reference.reset(&budget);
            }
        }
    }

    fn ask(&mut self, charges: &[Asked], id: Option<u8>, nonce_of_last: bool) {
        let all = charges
            .iter()
            .map(|asked| Charge::new(budget(asked), Cost::new(asked.cost).unwrap()));
        let Ok(request) = Acquire::all(all) else {
            return;
        };
        self.nonces += u128::from(!nonce_of_last);
        self.last = charges.to_vec();
        let nonce = Nonce::from_bytes(self.nonces.to_be_bytes());
        let mut request = request.with_nonce(nonce);
        if let Some(id) = id {
            let (id, life) = (RequestId::new([id]).unwrap(), Duration::from_millis(150));
            request = request.remembered_for(id, life).unwrap();
        }
        let ours = self.store.acquire(&request).now_or_never().unwrap();
        let theirs = self.reference.acquire(self.clock.now(), &request);
        same(&ours, &theirs);
        if let (Ok(Decision::Admitted(ours)), Ok(Decision::Admitted(theirs))) = (ours, theirs) {
            let receipts = ours.into_receipts().zip(theirs.into_receipts());
            self.receipts.extend(receipts);
            let over = self.receipts.len().saturating_sub(8);
            self.receipts.drain(..over);
        }
        charges.iter().for_each(|asked| self.peek(asked));
    }

    fn refund(&mut self, place: usize, used: u64) {
        if place >= self.receipts.len() {
            return;
        }
        let (ours, theirs) = self.receipts.remove(place);
        let (Some(ours), Some(theirs)) = (ours.settle(used), theirs.settle(used)) else {
            return;
        };
        let budget = ours.budget().clone();
        let ours = self.store.refund(ours).now_or_never().unwrap();
        same(&ours, &self.reference.refund(self.clock.now(), &theirs));
        let seen = self.store.peek(&budget).now_or_never().unwrap().unwrap();
        assert_eq!(seen, self.reference.peek(self.clock.now(), &budget));
    }

    fn peek(&mut self, asked: &Asked) {
        let budget = budget(asked);
        let seen = self.store.peek(&budget).now_or_never().unwrap().unwrap();
        assert_eq!(
            seen,
            self.reference.peek(self.clock.now(), &budget),
            "{asked:?}"
        );
    }
}

/// The same answer, or errors of one kind.
fn same<T: std::fmt::Debug>(ours: &Result<T, Error>, theirs: &Result<T, Error>) {
    match (ours, theirs) {
        (Err(ours), Err(theirs)) => assert_eq!(ours.kind(), theirs.kind(), "{ours} / {theirs}"),
        _ => assert_eq!(format!("{ours:?}"), format!("{theirs:?}")),
    }
}

fn check(calls: &[Call]) {
    let mut pair = Pair::new();
    for call in calls {
        pair.make(call);
        for (key, deadline) in pair.model.deadlines() {
            assert!(deadline.is_some(), "{key} has no deadline after {call:?}");
        }
    }
}

/// A quarter of what `PROPTEST_CASES` says: each is a sequence of up to 60 calls.
fn cases() -> ProptestConfig {
    let given = ProptestConfig::default();
    ProptestConfig {
        cases: given.cases / 4,
        failure_persistence: None,
        ..given
    }
}

macro_rules! each_form {
    ($($name:ident: $form:literal;)+) => {
        proptest! {
            #![proptest_config(cases())]

            #[test]
            fn of_all_forms_together(calls in prop::collection::vec(call(0..9), 1..60)) {
                check(&calls);
            }

            $(#[test]
            fn $name(calls in prop::collection::vec(call($form..$form + 1), 1..60)) {
                check(&calls);
            })+
        }
    };
}

each_form! {
    of_first_arrival: 0;
    of_aligned: 1;
    of_rolling: 2;
    of_token_bucket: 3;
    of_in_flight: 4;
    of_first_arrival_refundable: 5;
    of_aligned_refundable: 6;
    of_rolling_refundable: 7;
    of_token_bucket_refundable: 8;
}
