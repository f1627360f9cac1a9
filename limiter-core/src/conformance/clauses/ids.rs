//! Clauses about request ids.

use std::time::Duration;

use crate::conformance::subject::{Checked, Subject, ensure};
use crate::{Budget, ErrorKind, Refunded};

pub(in crate::conformance) async fn request_id(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(9)?, "alice");
    let request = s.request(&budget, 2)?.with_id(s.id("a")?);
    let first = s.send(&request).await?;
    ensure!(!first.is_repeat(), "a first admission is called a repeat");
    for _ in 0..2 {
        let repeat = s.send(&request).await?;
        let (told, tells) = (&first.grants()[0], &repeat.grants()[0]);
        let same = (told.total, &told.receipt) == (tells.total, &tells.receipt);
        ensure!(
            same && repeat.is_repeat(),
            "{told:?} is repeated as {tells:?}"
        );
        let total = s.peek(&budget).await?.total;
        ensure!(
            total == 2,
            "a request for 2 that was repeated has charged {total}"
        );
    }
    Ok(())
}

pub(in crate::conformance) async fn request_id_other(s: &Subject<'_>) -> Checked {
    let policy = s.policy(9)?;
    let (budget, other) = (
        Budget::of(&policy, "alice"),
        Budget::of(&s.policy(8)?, "alice"),
    );
    let id = s.id("a")?;
    s.send(&s.request(&budget, 2)?.with_id(id.clone())).await?;
    let longer = Budget::of(&s.short(8)?, "alice");
    for (budget, units) in [(&budget, 1), (&budget, 3), (&longer, 2)] {
        let asked = s.request(budget, units)?.with_id(id.clone());
        match s.store.acquire(&asked).await {
            Err(error) if error.kind() == ErrorKind::Invalid => {}
            answer => ensure!(
                false,
                "another question under the same id is answered {answer:?}"
            ),
        }
    }
    let total = s.peek(&other).await?.total;
    ensure!(total == 2, "2 units were admitted, and {total} are charged");
    Ok(())
}

pub(in crate::conformance) async fn request_id_denied(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let budget = Budget::of(&s.short(2)?, "alice");
    s.spend(&budget, 2).await?;
    let request = s.request(&budget, 1)?.with_id(s.id("a")?);
    let denied = !s.store.acquire(&request).await?.is_admitted();
    ensure!(denied, "a full budget admits under an id");
    s.pass(s.length() * 2).await;
    let admitted = s.store.acquire(&request).await?.is_admitted();
    ensure!(
        admitted,
        "a denial is still repeated when there is room again"
    );
    Ok(())
}

pub(in crate::conformance) async fn request_id_life(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(9)?, "alice");
    let id = s.id("a")?;
    let request = || {
        s.request(&budget, 1)?
            .remembered_for(id.clone(), s.length())
    };
    s.send(&request()?).await?;
    if !s.time.is_real() {
        s.pass(s.length()).await;
        let holds = s.send(&request()?).await?.is_repeat();
        ensure!(
            holds,
            "at the last instant of its life a record does not hold"
        );
    }
    s.pass(s.length() + Duration::from_millis(1)).await;
    let holds = s.send(&request()?).await?.is_repeat();
    ensure!(!holds, "after its life a record still holds");
    Ok(())
}

pub(in crate::conformance) async fn request_id_refunded(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(9)?, "alice");
    let request = s.request(&budget, 2)?.with_id(s.id("a")?);
    for receipt in s.send(&request).await?.into_receipts() {
        let _ = s.store.refund(receipt).await?;
    }
    match s.store.acquire(&request).await {
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(()),
        answer => {
            ensure!(false, "a repeat after a refund is answered {answer:?}");
            Ok(())
        }
    }
}

pub(in crate::conformance) async fn request_id_refund_once(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(9)?, "alice");
    s.admit(&budget, 4).await?;
    let request = s.request(&budget, 2)?.with_id(s.id("a")?);
    let (first, repeat) = (s.send(&request).await?, s.send(&request).await?);
    let before = s.peek(&budget).await?.total;
    let mut credited = 0;
    for receipt in first.into_receipts().chain(repeat.into_receipts()) {
        let answer = s.store.refund(receipt).await?;
        credited += u64::from(matches!(answer, Refunded::Credited { .. }));
    }
    let after = s.peek(&budget).await?.total;
    ensure!(
        credited == 1 && after + 2 == before,
        "2 units whose receipts came twice were given back {credited} times: {before} became {after}"
    );
    Ok(())
}
