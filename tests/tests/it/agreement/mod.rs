//! The pure state machine, the in-process store and the Redis store on real servers give the same
//! answers to random sequences of acquire, peek and time.

mod answer;
mod machine;
mod redis;
mod scenario;

use limiter_tests::servers;
use proptest::test_runner::{Config, TestRunner};

use machine::Machine;
use redis::RealStore;
use scenario::{Step, scenarios};

/// Lengths of a minute and more: a real server's clock runs on while the test does.
const LONG: std::ops::RangeInclusive<u64> = 60_000..=limiter_core::Length::MAX_MS;

fn runner() -> TestRunner {
    TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    })
}

#[test]
fn the_redis_store_agrees_with_the_state_machine_on_every_server() {
    for program in servers() {
        let real = RealStore::on(program);
        let outcome = runner().run(&scenarios(LONG), |scenario| {
            real.forget_all();
            let mut machine = Machine::default();
            for (number, step) in scenario.steps.iter().enumerate() {
                match step {
                    Step::Pass { ms } => {
                        let ms = machine.clear_of_deadlines(*ms);
                        machine.pass(ms);
                        real.pass(ms, &scenario.budgets);
                    }
                    Step::Ask(ask) => {
                        let expected = machine.answer(&ask.of(&scenario));
                        let told = real.answer(&ask.of(&scenario));
                        told.assert_matches(&expected, real.lag_ms(), number);
                    }
                }
            }
            Ok(())
        });
        outcome.unwrap_or_else(|why| panic!("on {program}: {why}"));
    }
}
