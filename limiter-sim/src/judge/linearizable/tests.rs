//! Histories by hand, right and wrong.

use super::{Answer, Call, Promise, linearizes};

const WINDOW_MS: u64 = 1000;

fn call(steps: (u64, u64), instants: (u64, u64), answer: Answer) -> Call {
    Call {
        steps: steps.0..=steps.1,
        instants: instants.0..=instants.1,
        cost: 1,
        answer,
    }
}

/// A call that is over before the next one begins.
fn alone(step: u64, at: u64, answer: Answer) -> Call {
    call((step, step), (at, at), answer)
}

fn fits(calls: &[Call], limit: u64) -> bool {
    fits_while(calls, &[], limit)
}

fn fits_while(calls: &[Call], clock: &[u64], limit: u64) -> bool {
    let length_ms = WINDOW_MS;
    linearizes(calls, clock, &Promise::FirstArrival { limit, length_ms })
}

use Answer::{Admitted, Denied, Unknown};

#[test]
fn an_empty_history_linearizes() {
    assert!(fits(&[], 0));
}

#[test]
fn one_after_the_other_up_to_the_limit_linearizes() {
    let calls = [
        alone(0, 0, Admitted),
        alone(1, 0, Admitted),
        alone(2, 0, Denied),
    ];
    assert!(fits(&calls, 2));
    assert!(!fits(&calls, 1), "one more than the limit was admitted");
    assert!(!fits(&calls, 3), "one was denied although it fitted");
}

#[test]
fn a_denial_before_the_budget_is_used_up_does_not_linearize() {
    assert!(!fits(&[alone(0, 0, Denied), alone(1, 0, Admitted)], 1));
}

#[test]
fn a_denial_beside_the_admission_that_used_the_budget_up_linearizes() {
    assert!(fits(
        &[call((0, 1), (0, 0), Denied), call((1, 2), (0, 0), Admitted)],
        1
    ));
}

#[test]
fn with_limit_0_only_denials_linearize() {
    assert!(fits(&[alone(0, 0, Denied)], 0));
    assert!(!fits(&[alone(0, 0, Admitted)], 0));
}

#[test]
fn the_last_instant_belongs_to_the_window() {
    assert!(fits(
        &[alone(0, 0, Admitted), alone(1, WINDOW_MS, Denied)],
        1
    ));
    assert!(!fits(
        &[alone(0, 0, Admitted), alone(1, WINDOW_MS, Admitted)],
        1
    ));
}

#[test]
fn the_millisecond_after_it_does_not() {
    assert!(fits(
        &[alone(0, 0, Admitted), alone(1, WINDOW_MS + 1, Admitted)],
        1
    ));
    assert!(!fits(
        &[alone(0, 0, Admitted), alone(1, WINDOW_MS + 1, Denied)],
        1
    ));
}

#[test]
fn a_denial_does_not_extend_the_window() {
    let calls = [
        alone(0, 0, Admitted),
        alone(1, 900, Denied),
        alone(2, 1001, Denied),
    ];
    assert!(!fits(&calls, 1));
}

#[test]
fn a_long_call_may_have_opened_the_window_at_any_instant_that_the_clock_showed() {
    // Only a window that opened between 650 and 749 denies at 1,650 and not at 1,750.
    let calls = [
        call((0, 3), (0, 2000), Admitted),
        alone(1, 1650, Denied),
        alone(2, 1750, Admitted),
    ];
    assert!(fits_while(&calls, &[700], 1));
    assert!(!fits_while(&calls, &[600, 800], 1));
}

#[test]
fn time_does_not_step_back_between_two_calls() {
    // The second was judged at 1,500 at the earliest, and so was the third, which the window of the
    // first does not reach.
    let calls = [
        alone(0, 0, Admitted),
        alone(1, 1500, Admitted),
        call((2, 2), (0, 1500), Denied),
    ];
    assert!(fits(&calls, 1));
    let calls = [
        alone(0, 0, Admitted),
        alone(1, 1500, Admitted),
        call((2, 2), (0, 1500), Admitted),
    ];
    assert!(!fits(&calls, 1));
}

#[test]
fn costs_are_weighed() {
    let of = |step, cost, answer| Call {
        cost,
        ..alone(step, 0, answer)
    };
    assert!(fits(
        &[of(0, 3, Admitted), of(1, 3, Denied), of(2, 2, Admitted)],
        5
    ));
    assert!(!fits(&[of(0, 3, Admitted), of(1, 2, Denied)], 5));
}

#[test]
fn a_call_with_an_unknown_end_may_have_charged_or_not() {
    let charged = [alone(0, 0, Unknown), alone(1, 0, Denied)];
    let uncharged = [alone(0, 0, Unknown), alone(1, 0, Admitted)];
    let neither = [
        alone(0, 0, Unknown),
        alone(1, 0, Admitted),
        alone(2, 0, Admitted),
    ];
    assert!(fits(&charged, 1));
    assert!(fits(&uncharged, 1));
    assert!(!fits(&neither, 1));
}

#[test]
fn a_charge_whose_end_is_unknown_comes_no_earlier_than_its_call() {
    assert!(!fits(&[alone(0, 0, Denied), alone(1, 0, Unknown)], 1));
}

#[test]
fn check_and_update_in_two_steps_do_not_linearize() {
    // Both looked before either charged.
    assert!(!fits(
        &[
            call((0, 2), (0, 0), Admitted),
            call((1, 3), (0, 0), Admitted)
        ],
        1
    ));
}

#[test]
fn a_window_that_opened_when_its_deadline_was_set_does_not_linearize() {
    // The first caller charged at 0 and set the deadline at 1,001; in between the budget was used
    // up, and at 1,001 it should have been a new one.
    let calls = [
        call((0, 4), (0, 1001), Admitted),
        alone(1, 0, Admitted),
        alone(3, 1001, Denied),
    ];
    assert!(!fits(&calls, 2));
}

#[test]
fn every_rule_says_when_a_place_is_free_again() {
    let length_ms = WINDOW_MS;
    let limit = 2;
    // Two are admitted at 600; the last instant at which a third is denied, and whether all come
    // back at once then.
    let rules = [
        (Promise::FirstArrival { limit, length_ms }, 1600),
        (Promise::Aligned { limit, length_ms }, 999),
        (Promise::Rolling { limit, length_ms }, 1600),
        (
            Promise::InFlight {
                limit,
                lease_ms: length_ms,
            },
            1600,
        ),
        (
            Promise::TokenBucket {
                limit,
                length_ms,
                burst: 2,
            },
            1099,
        ),
    ];
    for (promise, last) in rules {
        let after = |at, answer| {
            let two = [alone(0, 600, Admitted), alone(1, 600, Admitted)];
            linearizes(&[&two[..], &[alone(2, at, answer)]].concat(), &[], &promise)
        };
        assert!(after(last, Denied) && !after(last, Admitted), "{promise:?}");
        assert!(
            after(last + 1, Admitted) && !after(last + 1, Denied),
            "{promise:?}"
        );
    }
}

#[test]
fn several_budgets_admit_what_fits_into_all_of_them() {
    let length_ms = WINDOW_MS;
    let both = Promise::All(vec![
        Promise::FirstArrival {
            limit: 1,
            length_ms,
        },
        Promise::Rolling {
            limit: 1,
            length_ms: 3 * length_ms,
        },
    ]);
    let second =
        |at, answer| linearizes(&[alone(0, 0, Admitted), alone(1, at, answer)], &[], &both);
    assert!(second(2000, Denied) && !second(2000, Admitted));
    assert!(second(3001, Admitted) && !second(3001, Denied));
}
