//! Who is told: the `metrics` facade and `tracing`.

use limiter_core::{Acquire, Authority, Decision, Error, Observer};

use crate::outcome::{in_shadow, outcomes};

/// Tells `metrics` and `tracing` what was decided.
#[derive(Clone, Copy, Debug)]
pub struct Observing(What);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Answers,
    Shadow,
    FailureModes,
}

impl Observing {
    /// What a store answers. An [`ObservedStore`](crate::ObservedStore) does this by itself.
    pub const fn answers() -> Self {
        Self(What::Answers)
    }

    /// What a [`ShadowStore`](limiter_core::ShadowStore) would have answered.
    pub const fn shadow() -> Self {
        Self(What::Shadow)
    }

    /// What a [`Limiter`](limiter_core::Limiter) admits where its store cannot decide: give it to
    /// [`Limiter::observed_by`](limiter_core::Limiter::observed_by).
    pub const fn failure_modes() -> Self {
        Self(What::FailureModes)
    }
}

impl Observer for Observing {
    fn observe(&self, request: &Acquire, answer: Result<&Decision, &Error>) {
        match self.0 {
            What::Answers | What::Shadow => {
                for (policy, word) in outcomes(request, answer) {
                    let word = match self.0 {
                        What::Shadow => in_shadow(word),
                        _ => word,
                    };
                    count(policy.name(), word);
                    tell(policy.name(), word, answer.err());
                }
            }
            What::FailureModes => {
                let Ok(Decision::Admitted(admission)) = answer else {
                    return;
                };
                let authority = match admission.authority() {
                    Authority::FailureMode => "failure-mode",
                    Authority::Fallback => "fallback",
                    _ => return,
                };
                for charge in request.charges() {
                    let name = charge.budget().policy().name();
                    extra(name, authority, charge.cost().get());
                }
            }
        }
    }
}

fn count(policy: &str, outcome: &'static str) {
    #[cfg(feature = "metrics")]
    metrics::counter!("limiter_decisions_total", "policy" => policy.to_owned(), "outcome" => outcome)
        .increment(1);
    #[cfg(not(feature = "metrics"))]
    let _ = (policy, outcome);
}

fn tell(policy: &str, outcome: &'static str, error: Option<&Error>) {
    #[cfg(feature = "tracing")]
    match error {
        // The kind, not the message: a server's own words can hold keys, and so identities.
        Some(error) => {
            tracing::warn!(target: "limiter", policy, outcome, kind = ?error.kind(), "not decided")
        }
        None => tracing::debug!(target: "limiter", policy, outcome, "decided"),
    }
    #[cfg(not(feature = "tracing"))]
    let _ = (policy, outcome, error);
}

fn extra(policy: &str, authority: &'static str, units: u64) {
    #[cfg(feature = "metrics")]
    metrics::counter!("limiter_extra_units_total", "policy" => policy.to_owned(), "authority" => authority)
        .increment(units);
    #[cfg(feature = "tracing")]
    tracing::warn!(target: "limiter", policy, authority, units, "admitted without the store");
    #[cfg(not(any(feature = "metrics", feature = "tracing")))]
    let _ = (policy, authority, units);
}
