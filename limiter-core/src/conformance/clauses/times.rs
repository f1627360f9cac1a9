//! Clauses about deadlines and waits.

use std::time::Duration;

use crate::Budget;
use crate::conformance::subject::{Checked, Failure, Subject, ensure};

const MS: Duration = Duration::from_millis(1);

pub(in crate::conformance) async fn anchored(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let budget = Budget::of(&s.short(3)?, "alice");
    let first = s.admit(&budget, 1).await?.grants()[0].resets_in;
    s.pass(s.length() / 4).await;
    let second = s.admit(&budget, 1).await?.grants()[0].resets_in;
    let seen = s.peek(&budget).await?.resets_in.unwrap_or_default();
    let expected = first - s.length() / 4;
    for later in [second, seen] {
        ensure!(
            s.is_about(later, expected),
            "a quarter of a length after an admission that told {first:?}, another led to {later:?}"
        );
    }
    Ok(())
}

/// One budget is asked a millisecond before the wait is over, another after it: so that what the
/// first of them is told has no part in the second.
pub(in crate::conformance) async fn honest_wait(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let policy = s.short(3)?;
    let (early, due) = (Budget::of(&policy, "early"), Budget::of(&policy, "due"));
    for budget in [&early, &due] {
        s.spend(budget, 3).await?;
    }
    s.deny(&early, 2).await?;
    let wait = s.deny(&due, 2).await?.wait();
    let wait = wait.duration();
    let wait = wait.ok_or_else(|| Failure("2 of 3 are said never to fit".to_owned()))?;
    ensure!(wait >= MS, "the wait is {wait:?}");
    ensure!(
        wait <= s.length() + MS,
        "the wait is {wait:?}, of a length of {:?}",
        s.length()
    );
    if s.time.is_real() {
        s.pass(wait).await;
    } else {
        s.pass(wait - MS).await;
        let admitted = s.ask(&early, 2).await?.is_admitted();
        ensure!(
            !admitted,
            "2 are admitted a millisecond before the wait of {wait:?} is over"
        );
        s.pass(MS).await;
    }
    let admitted = s.ask(&due, 2).await?.is_admitted();
    ensure!(admitted, "2 are denied after the wait of {wait:?}");
    Ok(())
}

pub(in crate::conformance) async fn deadline_always(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let budget = Budget::of(&s.short(3)?, "alice");
    for _ in 0..2 {
        let admission = s.admit(&budget, 3).await?;
        let told = admission.grants()[0].resets_in;
        let bound = s.length() + MS;
        ensure!(
            (MS..=bound).contains(&told),
            "it is told to be gone in {told:?}"
        );
        s.pass(told).await;
        let seen = s.peek(&budget).await?;
        let is_unused = (seen.total, seen.remaining, seen.resets_in) == (0, 3, None);
        ensure!(
            is_unused,
            "after it was told to be gone it looks like {seen:?}"
        );
    }
    Ok(())
}

pub(in crate::conformance) async fn store_time(s: &Subject<'_>) -> Checked {
    let back = Duration::from_secs(11);
    s.at_the_start_of_a_window().await?;
    let budget = Budget::of(&s.short(3)?, "alice");
    s.spend(&budget, 3).await?;
    s.time.set_back(back);
    denied_until_it_is_time(s, &budget, back).await?;
    let granted = s.ask(&budget, 1).await?.is_admitted();
    ensure!(granted, "after the clock has caught up, nothing comes back");
    Ok(())
}

async fn denied_until_it_is_time(s: &Subject<'_>, budget: &Budget, back: Duration) -> Checked {
    let parts = 11;
    for part in 0..parts {
        let admitted = s.ask(budget, 3).await?.is_admitted();
        ensure!(
            !admitted,
            "the clock was set back {back:?}; {part} s later 3 are admitted again"
        );
        s.pass(back / parts).await;
    }
    s.pass(s.length() * 2).await;
    Ok(())
}
