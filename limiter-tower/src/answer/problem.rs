//! The explanation itself: a problem by RFC 9457, or the same in plain words.

use http::StatusCode;
use limiter_core::{Denial, Refusal};
use serde_json::{Value, json};

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Denied,
    Never,
    Undecided,
    NoIdentity,
    Invalid,
}

impl Type {
    #[cfg(test)]
    const ALL: [Self; 5] = [
        Self::Denied,
        Self::Never,
        Self::Undecided,
        Self::NoIdentity,
        Self::Invalid,
    ];

    /// A URI that names the type and leads nowhere (RFC 9457 §3.1.1 allows that; RFC 4151).
    const fn uri(self) -> &'static str {
        match self {
            Self::Denied => "tag:limiter-rs.github.io,2026:problem/denied",
            Self::Never => "tag:limiter-rs.github.io,2026:problem/never",
            Self::Undecided => "tag:limiter-rs.github.io,2026:problem/undecided",
            Self::NoIdentity => "tag:limiter-rs.github.io,2026:problem/no-identity",
            Self::Invalid => "tag:limiter-rs.github.io,2026:problem/invalid",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Denied => "The rate limit is used up",
            Self::Never => "The request asks for more than the rate limit ever admits",
            Self::Undecided => "The rate limit cannot be decided now",
            Self::NoIdentity => "The request does not say whose rate limit it is under",
            Self::Invalid => "The rate limit is set up wrongly",
        }
    }
}

/// A problem, and the budgets that have it.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    kind: Type,
    refusals: &'a [Refusal],
}

impl<'a> Problem<'a> {
    pub(super) fn of(kind: Type) -> Self {
        Self {
            kind,
            refusals: &[],
        }
    }

    pub(super) fn denied(kind: Type, denial: &'a Denial) -> Self {
        Self {
            kind,
            refusals: denial.refusals(),
        }
    }

    /// What happened, in one sentence for people.
    fn detail(&self, seconds: Option<u64>) -> String {
        let names: Vec<&str> = self
            .refusals
            .iter()
            .map(|refusal| refusal.budget.policy().name())
            .collect();
        let names = names.join(", ");
        match (self.kind, seconds) {
            (Type::Denied, Some(1)) => {
                format!("{names}: try again in 1 second. Others may come first.")
            }
            (Type::Denied, seconds) => format!(
                "{names}: try again in {} seconds. Others may come first.",
                seconds.unwrap_or(1)
            ),
            (Type::Never, _) => format!("{names}: no wait makes room for a request of this cost."),
            // Where the answer of the store was lost, the budget may have been charged.
            (Type::Undecided, _) => {
                "This says nothing about the caller's budget. The request was not carried out."
                    .to_owned()
            }
            (Type::NoIdentity, _) => "Nothing was done, and nobody was charged.".to_owned(),
            (Type::Invalid, _) => "This is not the caller's fault. Nothing was done.".to_owned(),
        }
    }

    pub(super) fn json(&self, status: StatusCode, seconds: Option<u64>) -> String {
        let mut problem = json!({
            "type": self.kind.uri(),
            "title": self.kind.title(),
            "status": status.as_u16(),
            "detail": self.detail(seconds),
        });
        if !self.refusals.is_empty() {
            problem["policies"] = self.refusals.iter().map(policy).collect();
        }
        problem.to_string()
    }

    pub(super) fn text(&self, seconds: Option<u64>) -> String {
        format!("{}.\n{}\n", self.kind.title(), self.detail(seconds))
    }
}

/// One policy that denied: its name, what it counts where, what it had left.
fn policy(refusal: &Refusal) -> Value {
    let policy = refusal.budget.policy();
    let mut told = json!({
        "name": policy.name(),
        "unit": policy.unit(),
        "scope": policy.scope(),
        "limit": policy.limit().get(),
        "remaining": refusal.remaining,
    });
    if let Some(wait) = refusal.wait.duration() {
        told["retry_after_ms"] = json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_type_is_a_uri_of_its_own() {
        let mut uris = Type::ALL.map(Type::uri).to_vec();
        for uri in &uris {
            // tag:authority,date:specific (RFC 4151 §2.1), in the characters of a URI.
            let rest = uri.strip_prefix("tag:").expect("the scheme");
            assert!(rest.contains(",2026:"), "{uri}");
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-.,:/".contains(c);
            assert!(rest.chars().all(allowed), "{uri}");
        }
        uris.sort_unstable();
        uris.dedup();
        assert_eq!(uris.len(), Type::ALL.len());
    }
}
