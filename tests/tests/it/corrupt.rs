//! State that the store did not write is told as *corrupt*, and left as it is.

use limiter_core::{BudgetStore, ErrorKind};
use limiter_tests::on_every_server;

use crate::support::{budget, key, one_of, some_of, store};

/// How foreign state gets there: a command and what follows the key.
const FOREIGN: &[&[&str]] = &[
    &["LPUSH", "5"],
    &["HSET", "c", "5"],
    &["SADD", "5"],
    &["SET", "5"],
    &["SET", "", "PX", "60000"],
    &["SET", "abc", "PX", "60000"],
    &["SET", "0x10", "PX", "60000"],
    &["SET", "1e3", "PX", "60000"],
    &["SET", " 5", "PX", "60000"],
    &["SET", "5 ", "PX", "60000"],
    &["SET", "-1", "PX", "60000"],
    &["SET", "+1", "PX", "60000"],
    &["SET", "5.0", "PX", "60000"],
    &["SET", "nan", "PX", "60000"],
    &["SET", "inf", "PX", "60000"],
    &["SET", "007", "PX", "60000"],
    &["SET", "5\n", "PX", "60000"],
    &["SET", "9007199254740992", "PX", "60000"],
    &["SET", "99999999999999999999", "PX", "60000"],
];

#[test]
fn foreign_state_is_corrupt_to_every_request_and_stays_as_it_is() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        let mut admin = server.admin();
        let budget = budget(5);
        let key = key(&budget);
        for foreign in FOREIGN {
            redis::cmd("DEL").arg(&key).exec(&mut admin).unwrap();
            let mut write = redis::cmd(foreign[0]);
            write.arg(&key).arg(&foreign[1..]).exec(&mut admin).unwrap();
            let dump = || -> Vec<u8> {
                redis::cmd("DUMP")
                    .arg(&key)
                    .query(&mut server.admin())
                    .unwrap()
            };
            let before = dump();
            for cost in [1, 6] {
                let error = store.acquire(&some_of(&budget, cost)).await.unwrap_err();
                assert_eq!(
                    error.kind(),
                    ErrorKind::Corrupt,
                    "{program}, {foreign:?}: {error}"
                );
                assert!(
                    error.message().contains("\"test\""),
                    "names the budget: {error}"
                );
            }
            let error = store.peek(&budget).await.unwrap_err();
            assert_eq!(
                error.kind(),
                ErrorKind::Corrupt,
                "{program}, {foreign:?}: {error}"
            );
            assert_eq!(dump(), before, "{program}, {foreign:?}");
        }
    });
}

#[test]
fn a_counter_that_lost_its_deadline_is_corrupt_and_never_immortal_in_silence() {
    on_every_server(async |program| {
        let server = program.setup().start();
        let store = store(&server).await;
        let budget = budget(5);
        assert!(
            store
                .acquire(&some_of(&budget, 5))
                .await
                .unwrap()
                .is_admitted()
        );
        redis::cmd("PERSIST")
            .arg(key(&budget))
            .exec(&mut server.admin())
            .unwrap();
        let error = store.acquire(&one_of(&budget)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{program}: {error}");
    });
}
