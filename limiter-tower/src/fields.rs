//! Fields that tell what is left: a draft, and the historical ones. None is sent unless it is asked
//! for.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue};
use limiter_core::{Acquire, Budget, Decision, Identity, RuleKind};
use sfv::{BareItem, KeyRef, ListSerializer, StringRef};
use siphasher::sip128::SipHasher24;

use crate::answer::whole_seconds;

/// Which fields tell what is left. They are a snapshot and no reservation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fields {
    /// None.
    #[default]
    None,
    /// `RateLimit-Policy` and `RateLimit` by draft-ietf-httpapi-ratelimit-headers-11: a draft, which
    /// may change. Each policy is an item by its name: `"search";q=100;w=60` and `"search";r=42;t=17`,
    /// in units of the policy (`qu` says which, where the draft has a word for it) and whole seconds.
    /// Integers end at 999,999,999,999,999; a window below a second has no `w`; `t` is when the budget
    /// is as new or, after a denial, the wait. It is left out where the response has a `Retry-After`
    /// that is earlier, or that is a date. Policies whose names are not printable ASCII are left
    /// out. Scopes are not sent: a policy's name stands for its scope. A partition key, `pk`, is sent
    /// where [`partition_keys`](crate::RateLimitLayerBuilder::partition_keys) says so.
    Draft11,
    /// `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, as many services send
    /// them and none defines: of the policy with the least left, in its units; the reset is in whole
    /// seconds from now.
    Historical,
}

/// The largest integer of a structured field (RFC 9651 §3.3.1).
const LARGEST: u64 = 999_999_999_999_999;

/// Names budgets without naming whose they are.
#[derive(Clone, Copy)]
pub(crate) struct PartitionKeys(SipHasher24);

impl PartitionKeys {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self(SipHasher24::new_with_key(&key))
    }

    fn of(&self, identity: &Identity) -> BareItem {
        BareItem::ByteSequence(self.0.hash(identity.as_bytes()).as_bytes().to_vec())
    }
}

/// What one budget has left.
pub(crate) struct Left {
    budget: Budget,
    remaining: u64,
    /// `None` where nothing that is waited for changes it.
    reset: Option<Duration>,
}

impl Fields {
    /// What the policies that were asked, or that denied, have left; nothing where it is not told.
    pub(crate) fn left(self, request: &Acquire, decision: &Decision) -> Vec<Left> {
        match decision {
            _ if self == Self::None => Vec::new(),
            Decision::Admitted(admission) => request
                .charges()
                .iter()
                .zip(admission.grants())
                .map(|(charge, grant)| Left {
                    budget: charge.budget().clone(),
                    remaining: grant.remaining,
                    reset: Some(grant.resets_in),
                })
                .collect(),
            Decision::Denied(denial) => denial
                .refusals()
                .iter()
                .map(|refusal| Left {
                    budget: refusal.budget.clone(),
                    remaining: refusal.remaining,
                    reset: refusal.wait.duration(),
                })
                .collect(),
        }
    }

    /// Tells what is left in the header fields of a response. What is there already stays: a layer
    /// further in may have told of its own policies, and the draft's fields are lists.
    pub(crate) fn tell(
        self,
        left: &[Left],
        partition_keys: Option<&PartitionKeys>,
        headers: &mut HeaderMap,
    ) {
        match self {
            Self::None => {}
            Self::Draft11 => draft(left, partition_keys, headers),
            Self::Historical => historical(left, headers),
        }
    }
}

/// The latest `t` that a response may have: its `Retry-After` is never earlier. One that the service
/// itself has set may be a date, which is not compared with anything.
fn latest(headers: &HeaderMap) -> u64 {
    match headers.get(RETRY_AFTER) {
        None => u64::MAX,
        Some(told) => told
            .to_str()
            .ok()
            .and_then(|told| told.parse().ok())
            .unwrap_or(0),
    }
}

fn integer(number: u64) -> sfv::Integer {
    let number = i64::try_from(number.min(LARGEST)).expect("below 2^63");
    sfv::Integer::try_from(number).expect("as large as they may be")
}

fn draft(left: &[Left], partition_keys: Option<&PartitionKeys>, to: &mut HeaderMap) {
    let latest = latest(to);
    let key = |name: &'static str| KeyRef::from_str(name).expect("a key");
    let (mut policies, mut states) = (ListSerializer::new(), ListSerializer::new());
    for Left {
        budget,
        remaining,
        reset,
    } in left
    {
        let policy = budget.policy();
        let Ok(name) = StringRef::from_str(policy.name()) else {
            continue;
        };
        let mut item = policies.bare_item(name);
        item = item.parameter(key("q"), integer(policy.limit().get()));
        let unit = policy.unit();
        if ["content-bytes", "concurrent-requests"].contains(&unit)
            && let Ok(unit) = StringRef::from_str(unit)
        {
            item = item.parameter(key("qu"), unit);
        }
        let length = policy.rule().length().as_millis();
        if policy.rule().kind() != RuleKind::InFlight && length >= 1000 {
            let _ = item.parameter(key("w"), integer(length.div_ceil(1000)));
        }
        let item = states.bare_item(name);
        let mut item = item.parameter(key("r"), integer(*remaining));
        let reset = reset.map(whole_seconds);
        if let Some(t) = reset.filter(|t| *t <= latest) {
            item = item.parameter(key("t"), integer(t));
        }
        if let (Some(keys), Some(identity)) = (partition_keys, budget.identity()) {
            let _ = item.parameter(key("pk"), &keys.of(identity));
        }
    }
    for (name, list) in [
        ("ratelimit-policy", policies.finish()),
        ("ratelimit", states.finish()),
    ] {
        if let Some(value) = list.and_then(|list| HeaderValue::try_from(list).ok()) {
            to.append(name, value);
        }
    }
}

fn historical(left: &[Left], to: &mut HeaderMap) {
    let Some(least) = left.iter().min_by_key(|left| left.remaining) else {
        return;
    };
    // These fields have one value each: of several layers the one that has least left tells it.
    let told = to.get("x-ratelimit-remaining");
    let told = told.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if told.is_some_and(|told| told <= least.remaining) {
        return;
    }
    to.insert(
        "x-ratelimit-limit",
        least.budget.policy().limit().get().into(),
    );
    to.insert("x-ratelimit-remaining", least.remaining.into());
    to.remove("x-ratelimit-reset");
    if let Some(reset) = least.reset {
        to.insert("x-ratelimit-reset", whole_seconds(reset).into());
    }
}
