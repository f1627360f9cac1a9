//! What each time rule promises, and another would not.

use std::time::Duration;

use crate::conformance::subject::{Checked, Subject, ensure};
use crate::{Budget, RuleKind};

pub(in crate::conformance) async fn rule(s: &Subject<'_>) -> Checked {
    match s.form.rule {
        RuleKind::FirstArrival => first_arrival(s).await,
        RuleKind::Aligned => aligned(s).await,
        RuleKind::Rolling => rolling(s).await,
        RuleKind::TokenBucket => bucket(s).await,
        RuleKind::InFlight => in_flight(s).await,
    }
}

const MS: Duration = Duration::from_millis(1);

/// The window opens at the first admission, wherever that lies, and lasts the whole length.
async fn first_arrival(s: &Subject<'_>) -> Checked {
    let budgets = ["alice", "bob"].map(|who| s.short(2).map(|policy| Budget::of(&policy, who)));
    for budget in budgets {
        let admission = s.admit(&budget?, 1).await?;
        let told = admission.grants()[0].resets_in;
        let expected = s.length() + MS;
        ensure!(
            s.is_about(told, expected),
            "a window that opens now ends in {told:?}"
        );
        s.pass(s.length() / 3).await;
    }
    Ok(())
}

/// All windows of one length end together, whenever they were opened.
async fn aligned(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let policy = s.short(2)?;
    let first = s.admit(&Budget::of(&policy, "alice"), 1).await?;
    s.pass(s.length() / 4).await;
    let later = s.admit(&Budget::of(&policy, "bob"), 1).await?;
    let (first, later) = (first.grants()[0].resets_in, later.grants()[0].resets_in);
    let expected = first - s.length() / 4;
    ensure!(
        s.is_about(later, expected) && first <= s.length(),
        "a quarter of a length after a window that ends in {first:?}, another ends in {later:?}"
    );
    Ok(())
}

/// Each unit comes back a length after it was spent.
async fn rolling(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.short(2)?, "alice");
    s.admit(&budget, 1).await?;
    s.pass(s.length() / 2).await;
    s.admit(&budget, 1).await?;
    s.pass(s.length() / 2 + MS).await;
    s.admit(&budget, 1).await?;
    s.deny(&budget, 1).await?;
    Ok(())
}

/// Units come back one by one, and no more than the burst.
async fn bucket(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.short(2)?, "alice");
    s.spend(&budget, 2).await?;
    s.pass(s.length() / 2).await;
    s.admit(&budget, 1).await?;
    s.deny(&budget, 1).await?;
    s.pass(s.length() * 3).await;
    s.spend(&budget, 2).await?;
    s.deny(&budget, 1).await?;
    Ok(())
}

/// Each lease lasts a length from when it was taken.
async fn in_flight(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.short(2)?, "alice");
    s.admit(&budget, 1).await?;
    s.pass(s.length() / 2).await;
    s.admit(&budget, 1).await?;
    s.deny(&budget, 1).await?;
    s.pass(s.length() / 2 + MS).await;
    s.admit(&budget, 1).await?;
    s.deny(&budget, 1).await?;
    Ok(())
}
