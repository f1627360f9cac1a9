//! Clauses about giving back.

use std::time::Duration;

use crate::conformance::subject::{Checked, Failure, Subject, ensure};
use crate::{Admission, Budget, Receipt, Refunded, Renewed, WindowIdentity};

const MS: Duration = Duration::from_millis(1);

fn receipt_of(admission: Admission) -> Result<Receipt, Failure> {
    let receipt = admission.into_receipts().next();
    receipt.ok_or_else(|| Failure("an admission handed back no receipt".to_owned()))
}

/// The same receipt once more, as a repeat or a copy on the wire would bring it.
fn twin(receipt: &Receipt) -> Receipt {
    Receipt::new(
        receipt.budget(),
        receipt.window(),
        receipt.serial(),
        receipt.cost(),
    )
}

pub(in crate::conformance) async fn refund(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(5)?, "alice");
    s.admit(&budget, 1).await?;
    let receipt = receipt_of(s.admit(&budget, 3).await?)?;
    s.admit(&budget, 1).await?;
    // Whoever remembers denials must not go on by them.
    s.deny(&budget, 1).await?;
    let refunded = s.store.refund(receipt).await?;
    ensure!(
        refunded.units() == 3,
        "a refund of 3 is answered {refunded:?}"
    );
    let seen = s.peek(&budget).await?;
    let counts = (seen.total, seen.remaining) == (2, 3);
    ensure!(
        counts,
        "after 5 of 5 units and a refund of 3 it looks like {seen:?}"
    );
    s.admit(&budget, 3).await?;
    s.deny(&budget, 1).await?;
    Ok(())
}

pub(in crate::conformance) async fn settle(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(10)?, "alice");
    let receipt = receipt_of(s.admit(&budget, 8).await?)?;
    let rest = receipt.settle(3);
    let rest = rest.ok_or_else(|| Failure("3 of 8 leave nothing".to_owned()))?;
    let refunded = s.store.refund(rest).await?;
    ensure!(
        refunded.units() == 5,
        "8 units settled at 3 give back {refunded:?}"
    );
    let seen = s.peek(&budget).await?;
    ensure!(seen.total == 3, "8 units settled at 3 look like {seen:?}");
    Ok(())
}

pub(in crate::conformance) async fn refund_once(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(9)?, "alice");
    s.admit(&budget, 4).await?;
    let receipt = receipt_of(s.admit(&budget, 2).await?)?;
    let again = twin(&receipt);
    let _ = s.store.refund(receipt).await?;
    let answer = s.store.refund(again).await?;
    ensure!(
        answer == Refunded::Repeated,
        "the second refund is answered {answer:?}"
    );
    let total = s.peek(&budget).await?.total;
    ensure!(
        total == 4,
        "4 of 6 units stay after two refunds of one charge: there are {total}"
    );
    Ok(())
}

pub(in crate::conformance) async fn refund_late(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let budget = Budget::of(&s.short(3)?, "alice");
    let receipt = receipt_of(s.admit(&budget, 2).await?)?;
    s.pass(s.length() + MS).await;
    s.admit(&budget, 2).await?;
    let before = s.peek(&budget).await?.remaining;
    let answer = s.store.refund(receipt).await?;
    ensure!(
        answer == Refunded::Late,
        "a refund that comes too late is answered {answer:?}"
    );
    let after = s.peek(&budget).await?.remaining;
    let same = after == before || (s.time.is_real() && after >= before);
    ensure!(
        same,
        "a refund that came too late made {before} left into {after}"
    );
    Ok(())
}

pub(in crate::conformance) async fn refund_own_window(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.policy(9)?, "alice");
    let receipt = receipt_of(s.admit(&budget, 2).await?)?;
    let mut other = receipt.window().0;
    other[0] ^= 1;
    let other = WindowIdentity(other);
    let of_other = Receipt::new(receipt.budget(), other, receipt.serial(), receipt.cost());
    let answer = s.store.refund(of_other).await?;
    ensure!(
        answer == Refunded::Late,
        "a receipt of another window is answered {answer:?}"
    );
    let total = s.peek(&budget).await?.total;
    ensure!(
        total == 2,
        "a receipt of another window left {total} of 2 units"
    );
    Ok(())
}

pub(in crate::conformance) async fn refund_keeps_deadline(s: &Subject<'_>) -> Checked {
    s.at_the_start_of_a_window().await?;
    let budget = Budget::of(&s.short(3)?, "alice");
    let receipt = receipt_of(s.admit(&budget, 2).await?)?;
    s.pass(s.length() / 4).await;
    let before = s.peek(&budget).await?.resets_in.unwrap_or_default();
    let _ = s.store.refund(receipt).await?;
    let after = s.peek(&budget).await?.resets_in.unwrap_or_default();
    ensure!(
        s.is_about(after, before),
        "a refund moved the end of a window: {before:?}, {after:?}"
    );
    Ok(())
}

pub(in crate::conformance) async fn renew(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.short(1)?, "alice");
    let receipt = receipt_of(s.admit(&budget, 1).await?)?;
    s.pass(s.length() / 2).await;
    let renewed = s.store.renew(&receipt).await?;
    let Renewed::Extended { ends_in } = renewed else {
        return Err(Failure(format!(
            "a lease that lasts is answered {renewed:?}"
        )));
    };
    let whole = s.length() + MS;
    ensure!(
        s.is_about(ends_in, whole),
        "a renewed lease ends in {ends_in:?}"
    );
    s.pass(s.length() * 3 / 4).await;
    s.deny(&budget, 1).await?;
    Ok(())
}

pub(in crate::conformance) async fn renew_lost(s: &Subject<'_>) -> Checked {
    let budget = Budget::of(&s.short(1)?, "alice");
    let receipt = receipt_of(s.admit(&budget, 1).await?)?;
    s.pass(s.length() + MS).await;
    let renewed = s.store.renew(&receipt).await?;
    ensure!(
        renewed == Renewed::Lost,
        "a lease that has ended is answered {renewed:?}"
    );
    let released = Budget::of(&s.policy(1)?, "bob");
    let receipt = receipt_of(s.admit(&released, 1).await?)?;
    let _ = s.store.refund(twin(&receipt)).await?;
    let renewed = s.store.renew(&receipt).await?;
    ensure!(
        renewed == Renewed::Lost,
        "a lease that was released is answered {renewed:?}"
    );
    Ok(())
}
