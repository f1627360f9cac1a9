//! What became of one policy in one acquisition, in one word.

use limiter_core::{Acquire, Decision, Error, ErrorKind, Policy, Refusal, Wait};

/// For each policy that was asked, the word for what became of it.
pub(crate) fn outcomes<'a>(
    request: &'a Acquire,
    answer: Result<&'a Decision, &'a Error>,
) -> impl Iterator<Item = (&'a Policy, &'static str)> {
    let charges = request.charges().iter();
    charges.map(move |charge| {
        let policy = charge.budget().policy();
        let word = match answer {
            Ok(Decision::Admitted(_)) => "admitted",
            Ok(Decision::Denied(denial)) => {
                let refusals = denial.refusals().iter();
                // The same budget twice is no valid request, so a policy's scope and name are enough.
                let own = |refusal: &&Refusal| {
                    let other = refusal.budget.policy();
                    (other.name(), other.scope()) == (policy.name(), policy.scope())
                };
                match refusals.clone().find(own).map(|refusal| refusal.wait) {
                    Some(Wait::Never) => "never",
                    Some(_) => "denied",
                    None => "spared",
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::Unavailable => "unavailable",
                ErrorKind::Uncertain => "uncertain",
                ErrorKind::Corrupt => "corrupt",
                ErrorKind::Invalid => "invalid",
                _ => "error",
            },
        };
        (policy, word)
    })
}

/// The same behind a store that lets everything through.
pub(crate) fn in_shadow(word: &'static str) -> &'static str {
    match word {
        "admitted" => "shadow-admitted",
        "denied" => "shadow-denied",
        "never" => "shadow-never",
        "spared" => "shadow-spared",
        "unavailable" => "shadow-unavailable",
        "uncertain" => "shadow-uncertain",
        "corrupt" => "shadow-corrupt",
        "invalid" => "shadow-invalid",
        _ => "shadow-error",
    }
}
