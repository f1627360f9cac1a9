//! Answers in one form, to be compared.

use std::time::Duration;

use limiter_core::{Decision, Snapshot, Wait};

/// What a store answers; times in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Admitted {
        total: u64,
        remaining: u64,
        resets_in: u64,
    },
    /// `wait` is `None` for *never*.
    Denied { remaining: u64, wait: Option<u64> },
    /// `resets_in` is `None` where no window is open.
    Seen {
        total: u64,
        remaining: u64,
        resets_in: Option<u64>,
    },
}

fn ms(duration: Duration) -> u64 {
    assert!(
        duration.subsec_nanos().is_multiple_of(1_000_000),
        "whole milliseconds"
    );
    assert_ne!(duration, Duration::ZERO, "a wait is never 0");
    u64::try_from(duration.as_millis()).unwrap()
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Admitted(admission) => {
                let [grant] = admission.grants() else {
                    panic!("one grant for one charge: {admission:?}");
                };
                Self::Admitted {
                    total: grant.total,
                    remaining: grant.remaining,
                    resets_in: ms(grant.resets_in),
                }
            }
            Decision::Denied(denial) => {
                let [refusal] = denial.refusals() else {
                    panic!("one refusal for one charge: {denial:?}");
                };
                Self::Denied {
                    remaining: refusal.remaining,
                    wait: match refusal.wait {
                        Wait::For(wait) => Some(ms(wait)),
                        Wait::Never => None,
                    },
                }
            }
        }
    }
}

impl From<Snapshot> for Answer {
    fn from(snapshot: Snapshot) -> Self {
        Self::Seen {
            total: snapshot.total,
            remaining: snapshot.remaining,
            resets_in: snapshot.resets_in.map(ms),
        }
    }
}

impl Answer {
    /// The time that it tells, and all else.
    fn split(self) -> (Option<u64>, Self) {
        match self {
            Self::Admitted {
                total,
                remaining,
                resets_in,
            } => (
                Some(resets_in),
                Self::Admitted {
                    total,
                    remaining,
                    resets_in: 0,
                },
            ),
            Self::Denied { remaining, wait } => (
                wait,
                Self::Denied {
                    remaining,
                    wait: wait.map(|_| 0),
                },
            ),
            Self::Seen {
                total,
                remaining,
                resets_in,
            } => {
                let rest = resets_in.map(|_| 0);
                (
                    resets_in,
                    Self::Seen {
                        total,
                        remaining,
                        resets_in: rest,
                    },
                )
            }
        }
    }

    /// Panics unless this is the `expected` answer, given up to `lag_ms` later than that one.
    pub(super) fn assert_matches(self, expected: &Self, lag_ms: u64, step: usize) {
        let ((told, rest), (due, expected_rest)) = (self.split(), expected.split());
        assert_eq!(rest, expected_rest, "step {step}");
        if let (Some(told), Some(due)) = (told, due) {
            assert!(
                told <= due && due <= told + lag_ms,
                "step {step}: {told} ms, and not {due} ms, {lag_ms} ms later at most"
            );
        }
    }
}
