//! Random sequences.

use proptest::test_runner::{Config, TestError, TestRunner};

use crate::case::run;
use crate::generator::steps;
use crate::real::with_each;

fn cases() -> u32 {
    std::env::var("LIMITER_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(300)
}

#[test]
fn random_sequences_agree() {
    with_each(|server| {
        let config = Config {
            cases: cases(),
            failure_persistence: None,
            max_shrink_iters: 2_000,
            ..Config::default()
        };
        let mut runner = TestRunner::new(config);
        let outcome = runner.run(&steps(), |steps| {
            run(server, &steps).map_err(proptest::test_runner::TestCaseError::fail)
        });
        match outcome {
            Ok(()) => println!("{}: {} sequences agree", server.name, cases()),
            Err(TestError::Fail(reason, _)) => panic!("{reason}"),
            Err(other) => panic!("{}: {other}", server.name),
        }
    });
}
