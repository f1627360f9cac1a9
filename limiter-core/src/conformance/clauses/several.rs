//! Clauses about several budgets in one acquisition.

use crate::conformance::subject::{Checked, Failure, Subject, ensure};
use crate::{Budget, Decision};

pub(in crate::conformance) async fn all_or_nothing(s: &Subject<'_>) -> Checked {
    let most = s.store.capabilities().max_charges.min(16);
    // Once with the budget that denies at either end.
    for (test, full) in [(1, 0), (2, most - 1)] {
        let budgets = s.together(test, 3, most)?;
        let all: Vec<&Budget> = budgets.iter().collect();
        s.send(&s.requests(&all, 1)?).await?;
        s.spend(&budgets[full], 2).await?;
        let denied = s.store.acquire(&s.requests(&all, 1)?).await?;
        ensure!(
            !denied.is_admitted(),
            "a budget at its limit was charged among others"
        );
        for (at, budget) in budgets.iter().enumerate().filter(|(at, _)| *at != full) {
            let total = s.peek(budget).await?.total;
            ensure!(
                total == 1,
                "budget {at} of {most} has {total} units, and was admitted 1: budget {full} denied \
                 the rest, under {}",
                budget.policy()
            );
        }
    }
    Ok(())
}

pub(in crate::conformance) async fn names_every_denial(s: &Subject<'_>) -> Checked {
    let budgets = s.together(1, 3, 3)?;
    let [full, unused, other] = &budgets[..] else {
        unreachable!("three were asked for");
    };
    s.spend(full, 3).await?;
    let decision = s.store.acquire(&s.requests(&[full, unused], 1)?).await?;
    let denied = denied_by(decision)?;
    ensure!(
        denied == [full.clone()],
        "one of two budgets was at its limit, and {denied:?} denied"
    );
    if s.store.capabilities().max_charges >= 3 {
        let decision = s
            .store
            .acquire(&s.requests(&[full, unused, other], 5)?)
            .await?;
        let denied = denied_by(decision)?;
        ensure!(
            denied.len() == 3,
            "three budgets could not give 5, and {denied:?} denied"
        );
    }
    Ok(())
}

fn denied_by(decision: Decision) -> Result<Vec<Budget>, Failure> {
    let denial = decision.denied();
    let denial = denial.ok_or_else(|| Failure("a full budget was charged".to_owned()))?;
    let budgets = denial
        .refusals()
        .iter()
        .map(|refusal| refusal.budget.clone());
    Ok(budgets.collect())
}
