//! States as bytes: what was written is read back, and nothing else is.

use limiter_core::rule::State;
use limiter_core::{Budget, Charge, ErrorKind, MAX_UNITS, Nonce, Policy};
use proptest::prelude::*;

use crate::{cost, length, ms, named};

fn every_form() -> Vec<Policy> {
    let second = length(1000);
    [
        named("bytes", 9).first_arrival(second),
        named("bytes", 9).aligned(second),
        named("bytes", 9).first_arrival(second).refundable(),
        named("bytes", 9).aligned(second).refundable(),
        named("bytes", 9).rolling(second),
        named("bytes", 9).token_bucket(second, 9),
        named("bytes", 9).in_flight(second),
    ]
    .map(|built| built.build().unwrap())
    .into()
}

/// A state with something in every part.
fn used(policy: &Policy) -> (Budget, State) {
    let budget = Budget::of(policy, "alice");
    let mut stored = None;
    for at in [1000, 1333, 1334] {
        let charge = Charge::new(budget.clone(), cost(2));
        let nonce = Some(Nonce::from_bytes([at as u8; 16]));
        let (state, grant) = State::charge(stored, ms(at), &charge, nonce).unwrap();
        let mut state = state;
        if at == 1333
            && let Some(receipt) = grant.receipt
        {
            let _ = state.refund(ms(at), &receipt).unwrap();
        }
        stored = Some(state);
    }
    (budget, stored.unwrap())
}

#[test]
fn what_was_written_is_read_back() {
    for policy in every_form() {
        let (budget, state) = used(&policy);
        let read = State::from_bytes(&state.to_bytes(), &budget).unwrap();
        assert_eq!(read, state);
    }
}

#[test]
fn the_state_of_another_rule_is_corrupt_and_named_without_the_identity() {
    let all = every_form();
    for written in &all {
        let bytes = used(written).1.to_bytes();
        for read in &all {
            let budget = Budget::of(read, "alice");
            let same_form = written.is_refundable() == read.is_refundable()
                && written.rule().kind().has_windows()
                && read.rule().kind().has_windows();
            if written.rule() == read.rule() && written.is_refundable() == read.is_refundable()
                || same_form
            {
                continue;
            }
            let error = State::from_bytes(&bytes, &budget).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.message().contains("\"tested\""), "{error}");
            assert!(!error.message().contains("alice"), "{error}");
        }
    }
}

#[test]
fn every_cut_and_every_addition_is_corrupt() {
    for policy in every_form() {
        let (budget, state) = used(&policy);
        let bytes = state.to_bytes();
        for cut in 0..bytes.len() {
            let error = State::from_bytes(&bytes[..cut], &budget).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(State::from_bytes(&longer, &budget).is_err());
    }
}

#[test]
fn numbers_out_of_bounds_are_corrupt() {
    let policy = every_form().swap_remove(0);
    let budget = Budget::of(&policy, "alice");
    for (total, is_allowed) in [
        (0, false),
        (1, true),
        (MAX_UNITS, true),
        (MAX_UNITS + 1, false),
    ] {
        let bytes = [
            &[1, 1][..],
            &u64::to_le_bytes(total),
            &1000_u64.to_le_bytes(),
        ]
        .concat();
        let read = State::from_bytes(&bytes, &budget);
        assert_eq!(read.is_ok(), is_allowed, "{total}");
    }
}

proptest! {
    #[test]
    fn whatever_is_read_is_what_would_be_written(
        form in 0..7_usize,
        damage in prop::collection::vec((0..200_usize, any::<u8>()), 0..4),
    ) {
        let (budget, state) = used(&every_form()[form]);
        let mut bytes = state.to_bytes();
        for (place, byte) in damage {
            let length = bytes.len();
            bytes[place % length] = byte;
        }
        if let Ok(read) = State::from_bytes(&bytes, &budget) {
            prop_assert_eq!(read.to_bytes(), bytes);
        }
    }
}
