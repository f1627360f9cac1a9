//! The pure state machine, the in-process store and the Redis store on real servers give the same
//! answers to random sequences of acquire, peek and time.

mod answer;
mod machine;
mod memory;
mod redis;
mod scenario;

use std::ops::RangeInclusive;

use limiter_core::{Length, Timestamp};
use limiter_tests::servers;
use proptest::test_runner::{Config, TestRunner};

use machine::Machine;
use memory::InProcess;
use redis::RealStore;
use scenario::{Step, scenarios};

/// Lengths of a minute and more: a real server's clock runs on while the test does.
const LONG: RangeInclusive<u64> = 60_000..=Length::MAX_MS;

/// All lengths, most of them so short that every second step of time meets a deadline.
const ANY: RangeInclusive<u64> = 1..=Length::MAX_MS;

const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// As many sequences as `PROPTEST_CASES` says, or 256.
fn runner() -> TestRunner {
    TestRunner::new(Config {
        failure_persistence: None,
        ..Config::default()
    })
}

#[test]
fn the_in_process_store_agrees_with_the_state_machine_to_the_millisecond() {
    let outcome = runner().run(&scenarios(ANY), |scenario| {
        let (mut machine, memory) = (Machine::at(START), InProcess::at(START));
        for (number, step) in scenario.steps.iter().enumerate() {
            match step {
                Step::Pass { ms } => {
                    machine.pass(*ms);
                    memory.pass(*ms);
                }
                Step::Ask(ask) => {
                    let request = ask.of(&scenario);
                    let expected = machine.answer(&request);
                    assert_eq!(memory.answer(&request), expected, "step {number}");
                }
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn both_stores_agree_with_the_state_machine_on_every_server() {
    for program in servers() {
        let real = RealStore::on(program);
        let outcome = runner().run(&scenarios(LONG), |scenario| {
            real.forget_all();
            let (mut machine, memory) = (Machine::at(START), InProcess::at(START));
            for (number, step) in scenario.steps.iter().enumerate() {
                match step {
                    Step::Pass { ms } => {
                        let ms = machine.clear_of_deadlines(*ms);
                        machine.pass(ms);
                        memory.pass(ms);
                        real.pass(ms, &scenario.budgets);
                    }
                    Step::Ask(ask) => {
                        let request = ask.of(&scenario);
                        let expected = machine.answer(&request);
                        assert_eq!(memory.answer(&request), expected, "step {number}");
                        let told = real.answer(&request);
                        told.assert_matches(&expected, real.lag_ms(), number);
                    }
                }
            }
            Ok(())
        });
        outcome.unwrap_or_else(|why| panic!("on {program}: {why}"));
    }
}
