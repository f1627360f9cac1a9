//! Clauses about bounds, names and what is not offered.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use crate::conformance::subject::{Checked, Subject, ensure};
use crate::{
    Budget, Cost, ErrorKind, Identity, MAX_UNITS, Policy, PolicyBuilder, RuleKind, Together,
};

pub(in crate::conformance) async fn bounded_numbers(s: &Subject<'_>) -> Checked {
    let (limit, most) = match s.form.rule {
        RuleKind::InFlight => (1024, 1023),
        RuleKind::Rolling => (4096, 4095),
        _ => (MAX_UNITS, MAX_UNITS - 1),
    };
    let budget = Budget::of(&s.policy(limit)?, "alice");
    s.admit(&budget, most).await?;
    let seen = s.peek(&budget).await?;
    // A bucket of 2^53 - 1 a day refills while one looks at it, if time is real.
    let exact = seen.remaining == 1 || s.time.is_real();
    ensure!(
        exact,
        "after {most} of {limit} units {} remain",
        seen.remaining
    );
    if !(s.time.is_real() && s.form.rule == RuleKind::TokenBucket) {
        s.admit(&budget, 1).await?;
        s.deny(&budget, 1).await?;
    }
    for length in [Duration::from_millis(1), Duration::from_secs(366 * 86_400)] {
        let policy = s.form.policy(s.policy(1)?.scope(), 1, length)?;
        s.admit(&Budget::of(&policy, "alice"), 1).await?;
    }
    Ok(())
}

pub(in crate::conformance) async fn identities(s: &Subject<'_>) -> Checked {
    let policy = s.policy(1)?;
    let long = |last: u8| {
        let mut bytes = vec![b'x'; 65_536];
        bytes[65_535] = last;
        Identity::from(bytes)
    };
    let mut budgets = Vec::new();
    if s.store.capabilities().together != Together::BesideOneIdentity {
        budgets.push(Budget::shared(&policy));
    }
    let texts = [
        "", "*", "=", "\0", "\0\0", ":", "%3A", "{", "}", "{}", "{a}b", " ", "é",
    ];
    budgets.extend(texts.map(|text| Budget::of(&policy, text)));
    let bytes: [&[u8]; 3] = [&[0xff], &[0xff, 0xfe], &[0xc3]];
    budgets.extend(bytes.map(|bytes| Budget::of(&policy, bytes)));
    budgets.extend([long(1), long(2)].map(|long| Budget::of(&policy, long)));
    for (at, budget) in budgets.iter().enumerate() {
        let decision = s.ask(budget, 1).await?;
        ensure!(
            decision.is_admitted(),
            "identity number {at} was taken for an earlier one"
        );
    }
    for (at, budget) in budgets.iter().enumerate() {
        let total = s.peek(budget).await?.total;
        ensure!(
            total == 1,
            "identity number {at} has {total} units, and spent 1"
        );
    }
    Ok(())
}

pub(in crate::conformance) async fn keys(s: &Subject<'_>) -> Checked {
    let base = s.policy(1)?;
    let scope = base.scope();
    let build = |name: &str, unit: &str, scope: &str, hours: u64| {
        let length = Duration::from_secs(hours * 3600);
        let built = Policy::named(name).unit(unit).scope(scope).limit(1);
        with_rule(built, s.form.rule, s.form.refundable, length).build()
    };
    let policies = [
        build("one", "requests", scope, 24)?,
        build("one", "bytes", scope, 24)?,
        build("one", "requests", &format!("{scope}:b"), 24)?,
        build("one", "requests", &format!("{scope}%3Ab"), 24)?,
        build("one", "requests", scope, 48)?,
    ];
    for (at, policy) in policies.iter().enumerate() {
        let decision = s.ask(&Budget::of(policy, "alice"), 1).await?;
        ensure!(
            decision.is_admitted(),
            "policy number {at} was taken for an earlier one"
        );
    }
    let renamed = build("other", "requests", scope, 24)?;
    s.deny(&Budget::of(&renamed, "alice"), 1).await?;
    Ok(())
}

fn with_rule(
    built: PolicyBuilder,
    rule: RuleKind,
    refundable: bool,
    length: Duration,
) -> PolicyBuilder {
    let built = match rule {
        RuleKind::FirstArrival => built.first_arrival(length),
        RuleKind::Aligned => built.aligned(length),
        RuleKind::Rolling => built.rolling(length),
        RuleKind::TokenBucket => built.token_bucket(length, 1),
        RuleKind::InFlight => built.in_flight(length),
    };
    if refundable {
        built.refundable()
    } else {
        built
    }
}

pub(in crate::conformance) async fn dropped(s: &Subject<'_>) -> Checked {
    let policy = s.policy(9)?;
    for polls in 0..4 {
        let budget = Budget::of(&policy, format!("dropped after {polls}"));
        let request = s.request(&budget, 2)?;
        let mut call = s.store.acquire(&request);
        for _ in 0..polls {
            let is_ready = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready()));
            if is_ready.await {
                break;
            }
        }
        drop(call);
        let total = s.peek(&budget).await?.total;
        ensure!(
            total == 2 || total == 0,
            "a call that asked for 2 and was dropped after {polls} polls has charged {total}"
        );
        ensure!(
            polls > 0 || total == 0,
            "a call that was never polled has charged {total}"
        );
    }
    Ok(())
}

pub(in crate::conformance) async fn not_offered(s: &Subject<'_>) -> Checked {
    let (offered, policy) = (s.store.capabilities(), s.policy(5)?);
    let budget = Budget::of(&policy, "alice");
    let request = s.request(&budget, 1)?;
    let mut refused = Vec::new();
    if s.form.not_kept(&offered).is_some() {
        refused.push(request);
    } else {
        if !offered.request_ids {
            refused.push(request.with_id(s.id("not offered")?));
        }
        if policy.needs_nonce() {
            refused.push(crate::Acquire::one(budget.clone(), Cost::ONE));
        }
        if s.form.rule == RuleKind::InFlight {
            refused.push(s.request(&budget, 1025)?);
        }
        if offered.max_charges < crate::Acquire::MAX_CHARGES {
            let many = s.together(1, 5, offered.max_charges + 1)?;
            refused.push(s.requests(&many.iter().collect::<Vec<_>>(), 1)?);
        }
        if offered.together != Together::Any && offered.max_charges > 1 {
            let other = Budget::of(&policy, "bob");
            refused.push(s.requests(&[&budget, &other], 1)?);
        }
    }
    for request in &refused {
        match s.store.acquire(request).await {
            Err(error) => {
                let is_invalid = error.kind() == ErrorKind::Invalid;
                ensure!(is_invalid, "what is not offered is answered {error}");
            }
            Ok(decision) => ensure!(false, "what is not offered is answered {decision:?}"),
        }
    }
    if s.form.not_kept(&offered).is_none() {
        let total = s.peek(&budget).await?.total;
        ensure!(
            total == 0,
            "what was refused as invalid has charged {total}"
        );
    }
    Ok(())
}

pub(in crate::conformance) async fn reset(s: &Subject<'_>) -> Checked {
    let policy = s.policy(3)?;
    let (budget, other) = (Budget::of(&policy, "alice"), Budget::of(&policy, "bob"));
    s.store.reset(&budget).await?;
    s.spend(&budget, 3).await?;
    s.spend(&other, 3).await?;
    // Whoever remembers denials must not go on by them.
    s.deny(&budget, 1).await?;
    s.store.reset(&budget).await?;
    let seen = s.peek(&budget).await?;
    let is_unused = (seen.total, seen.remaining, seen.resets_in) == (0, 3, None);
    ensure!(is_unused, "a budget that was reset looks like {seen:?}");
    s.spend(&budget, 3).await?;
    let total = s.peek(&other).await?.total;
    ensure!(
        total == 3,
        "the reset of one budget left {total} of 3 units in another"
    );
    Ok(())
}
