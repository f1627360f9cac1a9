//! The three that know a rule, held against each other on histories at random: the state machine,
//! the script on the modelled server, and the judge.
//!
//! The first two give the same answers and take back the same units. The judge finds nothing wrong
//! with what they admitted; and whatever they denied, it would have found wrong. So none of them is
//! too strict, and none too kind.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use limiter_core::rule::{State, Step, decide};
use limiter_core::{
    Acquire, BudgetStore, Cost, Decision, Nonce, Policy, Receipt, Refunded, Timestamp,
};
use limiter_redis::RedisStore;
use limiter_sim::Promise;
use limiter_sim::judge::{Change, Entry, History};
use limiter_sim::server::{Config, Node, Request};
use proptest::prelude::*;
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, Value};

const EPOCH_MS: u64 = 1_700_000_000_000;

#[derive(Clone)]
struct Connection(Arc<Mutex<Node>>);

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let request = Request::parse(&command.get_packed_command()).expect("a command");
            let mut node = self.0.lock().unwrap();
            node.connect(1);
            redis::parse_redis_value(&node.execute(1, &request).to_resp())
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        unreachable!("the store sends no pipelines")
    }

    fn get_db(&self) -> i64 {
        0
    }
}

/// A modelled server answers at once.
fn at_once<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    FirstArrival,
    Aligned,
    Rolling,
    TokenBucket,
    InFlight,
}

const RULES: [Rule; 5] = [
    Rule::FirstArrival,
    Rule::Aligned,
    Rule::Rolling,
    Rule::TokenBucket,
    Rule::InFlight,
];

#[derive(Clone, Copy, Debug)]
struct Numbers {
    limit: u64,
    length_ms: u64,
    burst: u64,
    refundable: bool,
}

impl Rule {
    fn policy(self, numbers: Numbers) -> Policy {
        let length = Duration::from_millis(numbers.length_ms);
        let built = Policy::named("p").scope("s").limit(numbers.limit);
        let built = match self {
            Self::FirstArrival => built.first_arrival(length),
            Self::Aligned => built.aligned(length),
            Self::Rolling => built.rolling(length),
            Self::TokenBucket => built.token_bucket(length, numbers.burst),
            Self::InFlight => built.in_flight(length),
        };
        match numbers.refundable {
            true => built.refundable().build().unwrap(),
            false => built.build().unwrap(),
        }
    }

    fn promise(self, numbers: Numbers) -> Promise {
        let (limit, length_ms) = (numbers.limit, numbers.length_ms);
        match self {
            Self::FirstArrival => Promise::FirstArrival { limit, length_ms },
            Self::Aligned => Promise::Aligned { limit, length_ms },
            Self::Rolling => Promise::Rolling { limit, length_ms },
            Self::TokenBucket => Promise::TokenBucket {
                limit,
                length_ms,
                burst: numbers.burst,
            },
            Self::InFlight => Promise::InFlight {
                limit,
                lease_ms: length_ms,
            },
        }
    }

    /// Whether what was denied must be wrong in the judge's eyes. The kindest reading may count
    /// the last instant of a first-arrival window in the next one, which then opens at it, and a bucket that takes something
    /// back rounds to whole units, to its own disadvantage.
    fn is_exact(self, history: &[Entry], at: u64, length_ms: u64) -> bool {
        let refunded = history
            .iter()
            .any(|entry| matches!(entry.change, Change::GivenBack { .. }));
        match self {
            Self::FirstArrival => {
                let instants = || history.iter().map(|entry| entry.at).chain([at]);
                !instants().any(|one| instants().any(|other| one + length_ms == other))
            }
            Self::TokenBucket => !refunded,
            Self::Aligned | Self::Rolling | Self::InFlight => true,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Wait(u64),
    Ask(u64),
    GiveBack(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        2 => prop_oneof![0..4_u64, 0..40_u64].prop_map(Act::Wait),
        4 => (1..5_u64).prop_map(Act::Ask),
        1 => (0..5_usize).prop_map(Act::GiveBack),
    ];
    prop::collection::vec(act, 1..30)
}

fn numbers() -> impl Strategy<Value = Numbers> {
    (1..9_u64, 1..30_u64, any::<bool>()).prop_flat_map(|(limit, length_ms, refundable)| {
        (1..=limit).prop_map(move |burst| Numbers {
            limit,
            length_ms,
            burst,
            refundable,
        })
    })
}

/// An admission that can be given back: when, how much, and the receipts of both.
struct Held {
    at: u64,
    units: u64,
    receipts: Option<(Receipt, Receipt)>,
}

struct Three {
    rule: Rule,
    numbers: Numbers,
    policy: Policy,
    node: Arc<Mutex<Node>>,
    store: RedisStore<Connection>,
    state: Option<State>,
    history: Vec<Entry>,
    held: Vec<Held>,
    now: u64,
}

impl Three {
    fn new(rule: Rule, numbers: Numbers) -> Self {
        let node = Arc::new(Mutex::new(Node::new(Config::default()).unwrap()));
        let mut three = Self {
            rule,
            numbers,
            policy: rule.policy(numbers),
            store: RedisStore::new(Connection(Arc::clone(&node))),
            node,
            state: None,
            history: Vec::new(),
            held: Vec::new(),
            now: EPOCH_MS,
        };
        three.wait(0);
        three
    }

    fn wait(&mut self, ms: u64) {
        self.now += ms;
        self.node.lock().unwrap().set_time(self.now.cast_signed());
    }

    fn over(&self, history: &[Entry]) -> u64 {
        let history = History {
            entries: history,
            untold: &[],
            cost: 1,
            clock_was_set: false,
        };
        self.rule.promise(self.numbers).judge(&history).1
    }

    fn ask(&mut self, number: usize, units: u64) {
        let mut bytes = [0; 16];
        bytes[0] = u8::try_from(number).unwrap();
        let request = Acquire::of(&self.policy, "alice", Cost::new(units).unwrap())
            .with_nonce(Nonce::from_bytes(bytes));
        let now = Timestamp::from_millis(self.now);
        let machine = decide(&request, [self.state.clone()], now).unwrap();
        let script = at_once(self.store.acquire(&request)).unwrap();
        let mut after = self.history.clone();
        after.push(Entry::admitted(self.now, units));
        match (machine, script) {
            (Step::Admit { admission, states }, Decision::Admitted(other)) => {
                self.state = states.into_iter().next();
                let receipts = admission.into_receipts().zip(other.into_receipts()).next();
                let at = self.now;
                self.held.push(Held {
                    at,
                    units,
                    receipts,
                });
                self.history = after;
                assert_eq!(self.over(&self.history), 0, "{:?}", self.history);
            }
            (Step::Deny(_), Decision::Denied(_)) => {
                let exact = self
                    .rule
                    .is_exact(&self.history, self.now, self.numbers.length_ms);
                assert!(!exact || self.over(&after) > 0, "{after:?}");
            }
            (machine, script) => panic!("{machine:?}, and the script: {script:?}"),
        }
    }

    fn give_back(&mut self, number: usize) {
        let Some(held) = self.held.get_mut(number) else {
            return;
        };
        let Some((own, other)) = held.receipts.take() else {
            return;
        };
        let now = Timestamp::from_millis(self.now);
        let state = self.state.as_mut().expect("something was admitted");
        let machine = state.refund(now, &own).unwrap();
        let script = at_once(self.store.refund(other)).unwrap();
        assert_eq!(machine, script);
        if matches!(machine, Refunded::Credited { .. }) {
            let entry = Entry::given_back(self.now, held.units, held.at);
            self.history.push(entry);
        }
    }
}

fn agree(rule: Rule, numbers: Numbers, acts: &[Act]) {
    let mut three = Three::new(rule, numbers);
    for (number, act) in acts.iter().enumerate() {
        match *act {
            Act::Wait(ms) => three.wait(ms),
            Act::Ask(units) => three.ask(number, units),
            Act::GiveBack(of) => three.give_back(of),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn state_machine_script_and_judge_agree_on_every_rule(numbers in numbers(), acts in acts()) {
        for rule in RULES {
            agree(rule, numbers, &acts);
        }
    }
}
