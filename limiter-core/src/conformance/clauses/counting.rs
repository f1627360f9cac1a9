//! Clauses about counts.

use std::collections::HashSet;

use crate::conformance::subject::{Checked, Failure, Subject, ensure};
use crate::conformance::together;
use crate::{Budget, Decision, Limit, Wait};

pub(in crate::conformance) async fn atomic(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(8)?, "alice");
    let asked: Vec<_> = (0..24).map(|_| s.ask(&budget, 1)).collect();
    let mut admitted = 0;
    for decision in together(asked).await {
        admitted += u64::from(decision?.is_admitted());
    }
    ensure!(
        admitted == 8,
        "of 24 that ask at once {admitted} are admitted, of a limit of 8"
    );
    Ok(())
}

pub(in crate::conformance) async fn inert(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.short(3)?, "alice");
    s.at_the_start_of_a_window().await?;
    s.spend(&budget, 2).await?;
    s.pass(s.length() / 8).await;
    let before = s.peek(&budget).await?;
    for units in [before.remaining + 1, 3, 4] {
        s.deny(&budget, units).await?;
        let after = s.peek(&budget).await?;
        let counts = (after.total, after.remaining) == (before.total, before.remaining);
        let went_on = s.time.is_real() && after.remaining >= before.remaining;
        ensure!(
            counts || went_on,
            "a denial of {units} made {before:?} into {after:?}"
        );
        let same_deadline = match s.time.is_real() {
            true => after.resets_in <= before.resets_in,
            false => after.resets_in == before.resets_in,
        };
        ensure!(
            same_deadline,
            "a denial of {units} made {before:?} into {after:?}"
        );
    }
    Ok(())
}

pub(in crate::conformance) async fn exact_accounting(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(6)?, "alice");
    let mut seen = HashSet::new();
    let mut sum = 0;
    for units in [1, 2, 1] {
        let admission = s.admit(&budget, units).await?;
        let grant = &admission.grants()[0];
        sum += units;
        ensure!(
            grant.total == sum,
            "after {sum} units the total told is {}",
            grant.total
        );
        let (left, remaining) = (6 - sum, grant.remaining);
        ensure!(
            remaining == left,
            "after {sum} of 6 units {remaining} are told to remain"
        );
        seen.insert(grant.total);
        if s.form.refundable && sum == 3 {
            let receipt = admission.into_receipts().next();
            let receipt = receipt.ok_or_else(|| Failure("no receipt".to_owned()))?;
            let _ = s.store.refund(receipt).await?;
            let again = s.admit(&budget, 2).await?;
            let total = again.grants()[0].total;
            ensure!(
                seen.insert(total),
                "after a refund the total {total} is told twice"
            );
            return Ok(());
        }
    }
    Ok(())
}

pub(in crate::conformance) async fn peek(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(5)?, "alice");
    for _ in 0..2 {
        let unused = s.peek(&budget).await?;
        let is_unused = (unused.total, unused.remaining, unused.resets_in) == (0, 5, None);
        ensure!(
            is_unused,
            "a budget that was never used looks like {unused:?}"
        );
    }
    s.spend(&budget, 2).await?;
    for _ in 0..3 {
        let seen = s.peek(&budget).await?;
        let counts = (seen.total, seen.remaining) == (2, 3) && seen.resets_in.is_some();
        ensure!(counts, "after 2 of 5 units a budget looks like {seen:?}");
    }
    s.spend(&budget, 3).await
}

pub(in crate::conformance) async fn never(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(3)?, "above");
    let wait = s.deny(&budget, 4).await?.wait();
    ensure!(
        wait == Wait::Never,
        "a cost of 4 above a limit of 3 is told to wait: {wait:?}"
    );
    let nothing = Budget::of(&s.policy(0)?, "nothing");
    let wait = s.deny(&nothing, 1).await?.wait();
    ensure!(
        wait == Wait::Never,
        "under a limit of 0 the wait is {wait:?}"
    );
    s.admit(&Budget::of(&s.policy(3)?, "equal"), 3).await?;
    Ok(())
}

pub(in crate::conformance) async fn changed_limits(s: &Subject<'_>) -> Checked {
    let three = Budget::of(&s.policy(3)?, "alice");
    s.spend(&three, 3).await?;
    let two = three.under(&s.policy(2)?);
    let lowered = s.peek(&two).await?;
    let counts = (lowered.total, lowered.remaining) == (3, 0);
    ensure!(
        counts,
        "3 units under a limit lowered to 2 look like {lowered:?}"
    );
    let five = three.under(&three.policy().with_limit(Limit::new(5)?)?);
    let five = five.under(&s.policy(5)?);
    for admitted in 0..3 {
        let decision = s.ask(&five, 1).await?;
        let expected = admitted < 2;
        ensure!(
            decision.is_admitted() == expected,
            "3 units were spent; after a raise to 5, the ask after {admitted} more is {decision:?}"
        );
        if let Decision::Denied(_) = decision {
            break;
        }
    }
    ensure!(
        !s.ask(&two, 1).await?.is_admitted(),
        "a lowered limit of 2 admits a sixth unit"
    );
    Ok(())
}
