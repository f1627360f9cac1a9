//! A denial changes nothing that anybody can observe.

use limiter_core::{Budget, BudgetStore, Wait};
use limiter_tests::{Server, on_every_server};

use crate::support::{admitted, budget, denied, key, one_of, some_of, store};

/// The deadline as a command tells it.
const EXPIRE_TIME: &str = "return redis.call('PEXPIRETIME', KEYS[1])";

/// The deadline where no command tells it, before 7.0: the time of day plus what is left. The clock
/// runs on while the script does, so it asks until no millisecond passed between the two.
const TIME_AND_TTL: &str = "
    local function now_ms()
      local time = redis.call('TIME')
      return time[1] * 1000 + math.floor(time[2] / 1000)
    end
    local before, left, after
    repeat
      before = now_ms()
      left = redis.call('PTTL', KEYS[1])
      after = now_ms()
    until before == after
    return before + left";

/// Everything that there is to see of `budget`: its bytes, its deadline, and how many keys exist.
fn observe(server: &Server, budget: &Budget) -> (Vec<u8>, i64, u64) {
    let mut admin = server.admin();
    let key = key(budget);
    let script = match server.program().is_at_least(7, 0) {
        true => EXPIRE_TIME,
        false => TIME_AND_TTL,
    };
    let bytes = redis::cmd("DUMP").arg(&key).query(&mut admin).unwrap();
    let mut eval = redis::cmd("EVAL");
    let deadline = eval.arg(script).arg(1).arg(&key).query(&mut admin).unwrap();
    let keys = redis::cmd("DBSIZE").query(&mut admin).unwrap();
    (bytes, deadline, keys)
}

#[test]
fn a_denial_changes_neither_the_counter_nor_the_deadline() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        let budget = budget(5);
        let _ = admitted(store.acquire(&some_of(&budget, 4)).await.unwrap());
        let before = observe(&server, &budget);
        for cost in [2, 5, 6, limiter_core::MAX_UNITS] {
            for _ in 0..20 {
                let denial = denied(store.acquire(&some_of(&budget, cost)).await.unwrap());
                assert_eq!(denial.refusals()[0].remaining, 1);
                assert_eq!(denial.wait() == Wait::Never, cost > 5);
            }
        }
        assert_eq!(observe(&server, &budget), before);
        let _ = admitted(store.acquire(&one_of(&budget)).await.unwrap());
        let full = observe(&server, &budget);
        assert_eq!(full.1, before.1, "a later admission keeps the deadline");
        let _ = denied(store.acquire(&one_of(&budget)).await.unwrap());
        assert_eq!(observe(&server, &budget), full);
    });
}

#[test]
fn a_denial_where_no_window_is_open_opens_none() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        for (limit, cost) in [(0, 1), (5, 6)] {
            let denial = denied(store.acquire(&some_of(&budget(limit), cost)).await.unwrap());
            assert_eq!(denial.wait(), Wait::Never);
        }
        let keys: u64 = redis::cmd("DBSIZE").query(&mut server.admin()).unwrap();
        assert_eq!(keys, 0);
    });
}

#[test]
fn a_peek_changes_nothing() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        let budget = budget(5);
        let empty = store.peek(&budget).await.unwrap();
        assert_eq!(
            (empty.total, empty.remaining, empty.resets_in),
            (0, 5, None)
        );
        let _ = admitted(store.acquire(&some_of(&budget, 3)).await.unwrap());
        let before = observe(&server, &budget);
        let snapshot = store.peek(&budget).await.unwrap();
        assert_eq!((snapshot.total, snapshot.remaining), (3, 2));
        assert_eq!(observe(&server, &budget), before);
    });
}
