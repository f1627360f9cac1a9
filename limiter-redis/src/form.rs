//! The stored forms, by the names that the scripts know.

use limiter_core::{Policy, RuleKind};

/// The stored form of budgets of `policy`: as it is called in their keys.
pub(crate) fn of(policy: &Policy) -> &'static str {
    match (policy.rule().kind(), policy.is_refundable()) {
        (RuleKind::FirstArrival, true) => "first-arrival-refundable",
        (RuleKind::Aligned, true) => "aligned-refundable",
        (kind, _) => kind.as_str(),
    }
}

/// Whether they are plain first-arrival counters, which have scripts of their own.
pub(crate) fn is_plain(policy: &Policy) -> bool {
    policy.rule().kind() == RuleKind::FirstArrival && !policy.is_refundable()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_form_is_called_as_in_the_key() {
        let length = Duration::from_secs(1);
        let built = || Policy::named("p").scope("s").limit(5);
        let policies = [
            built().first_arrival(length),
            built().aligned(length),
            built().rolling(length),
            built().token_bucket(length, 5),
            built().in_flight(length),
        ];
        let refundable = policies.clone().map(|policy| policy.refundable());
        for policy in policies.into_iter().chain(refundable) {
            let policy = policy.build().unwrap();
            let start = format!("1:{}:1000:", of(&policy));
            assert!(policy.key_space().prefix().starts_with(&start), "{start}");
        }
    }
}
