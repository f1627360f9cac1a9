//! Clients that ask without end, and the ledger of what they were told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use limiter_core::{Budget, BudgetKey, BudgetStore, Clock, Decision, ErrorKind, SystemClock};
use limiter_tests::{Program, eventually, pause_for};
use tokio::task::JoinHandle;

use crate::support::{one_of, total};

const SOON: Duration = Duration::from_secs(60);

/// How many answers show that a client works again.
const ENOUGH: u64 = 30;

pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<(Arc<AtomicU64>, JoinHandle<Ledger>)>,
}

/// What the clients were told.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    budgets: BTreeMap<BudgetKey, Account>,
    denied: u64,
    unavailable: u64,
    slowest: Duration,
}

/// What they were told of one budget.
#[derive(Debug, Default)]
struct Account {
    /// How often each running total was told.
    totals: BTreeMap<u64, u64>,
    uncertain: u64,
}

impl Load {
    /// One client for each store; each asks the `budgets` in turn, one unit each.
    pub(crate) fn of<S: BudgetStore + 'static>(stores: Vec<S>, budgets: &[Budget]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let clients = stores
            .into_iter()
            .map(|store| {
                let answered = Arc::new(AtomicU64::new(0));
                let budgets = budgets.to_vec();
                let client = client(store, budgets, Arc::clone(&stop), Arc::clone(&answered));
                (answered, tokio::spawn(client))
            })
            .collect();
        Self { stop, clients }
    }

    /// Waits until every client has been answered a good many times more.
    pub(crate) async fn goes_on(&self, what: &str) {
        for (answered, _) in &self.clients {
            let goal = answered.load(Ordering::Relaxed) + ENOUGH;
            eventually(what, SOON, async || {
                answered.load(Ordering::Relaxed) >= goal
            })
            .await;
        }
    }

    pub(crate) async fn stop(self) -> Ledger {
        self.stop.store(true, Ordering::Relaxed);
        let mut ledger = Ledger::default();
        for (_, client) in self.clients {
            ledger.add(client.await.unwrap());
        }
        ledger
    }
}

async fn client(
    store: impl BudgetStore,
    budgets: Vec<Budget>,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
) -> Ledger {
    let clock = SystemClock::new();
    let mut ledger = Ledger::default();
    for budget in budgets.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let start = clock.now();
        let told = store.acquire(&one_of(budget)).await;
        let took = Duration::from_millis(clock.now().millis_since(start));
        ledger.slowest = ledger.slowest.max(took);
        let account = ledger.budgets.entry(budget.key()).or_default();
        if told.is_ok() {
            answered.fetch_add(1, Ordering::Relaxed);
        }
        match told {
            Ok(Decision::Denied(_)) => ledger.denied += 1,
            Ok(admitted) => *account.totals.entry(total(admitted)).or_default() += 1,
            Err(error) => match error.kind() {
                ErrorKind::Uncertain => account.uncertain += 1,
                ErrorKind::Unavailable => ledger.unavailable += 1,
                _ => panic!("{error}"),
            },
        }
        pause_for(Duration::from_millis(1)).await;
    }
    ledger
}

impl Ledger {
    fn add(&mut self, other: Self) {
        for (key, account) in other.budgets {
            let own = self.budgets.entry(key).or_default();
            own.uncertain += account.uncertain;
            for (total, times) in account.totals {
                *own.totals.entry(total).or_default() += times;
            }
        }
        self.denied += other.denied;
        self.unavailable += other.unavailable;
        self.slowest = self.slowest.max(other.slowest);
    }

    /// No call took longer.
    #[track_caller]
    pub(crate) fn assert_no_slower_than(&self, bound: Duration) {
        assert!(self.slowest <= bound, "a call took {:?}", self.slowest);
    }

    /// Compares what was told of `budget` with `charged`, its counter at the end, where a failover
    /// went on from `kept` units. Returns how many admissions were lost in that.
    ///
    /// - No call was charged twice: the counter is explained by admissions and uncertain calls.
    /// - A total is told twice only if the failover forgot it, and never three times.
    #[track_caller]
    pub(crate) fn lost(&self, budget: &Budget, charged: u64, kept: u64) -> u64 {
        let account = &self.budgets[&budget.key()];
        let told: u64 = account.totals.values().sum();
        let may_be = told + account.uncertain;
        assert!(
            charged <= may_be,
            "{charged} charged, {may_be} told or uncertain"
        );
        let mut lost = 0;
        for (total, times) in &account.totals {
            assert!(
                *times == 1 || *total > kept,
                "{total} told {times} times, {kept} were kept"
            );
            assert!(*times <= 2, "{total} told {times} times");
            lost += times - u64::from(*total <= charged);
        }
        lost
    }

    /// Admissions that a caller was told.
    pub(crate) fn admitted(&self) -> u64 {
        let accounts = self.budgets.values();
        accounts.flat_map(|account| account.totals.values()).sum()
    }

    /// Calls of which nobody knows whether they were charged.
    pub(crate) fn uncertain(&self) -> u64 {
        self.budgets.values().map(|account| account.uncertain).sum()
    }

    /// One line for whoever reads the tests' output.
    pub(crate) fn report(&self, program: &Program, what: &str, lost: u64) {
        println!(
            "{program}, {what}: {} admitted, {lost} of them lost, {} denied, {} uncertain, \
             {} unavailable, slowest call {:?}",
            self.admitted(),
            self.denied,
            self.uncertain(),
            self.unavailable,
            self.slowest,
        );
    }
}
