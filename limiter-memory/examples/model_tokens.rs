//! A budget of language-model tokens: reserve an estimate, answer, settle what it really cost.
//!
//! `cargo run -p limiter-memory --example model_tokens`

use std::time::Duration;

use limiter_core::{BudgetStore, Cost, CountingNonces, Decision, Error, Limiter, Policy};
use limiter_memory::MemoryStore;

/// What became of one question.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// It used so many tokens, and so many were paid for: fewer where a settlement was denied.
    Answered { used: u64, paid: u64 },
    /// It was not asked: come back after this.
    Denied(Option<Duration>),
}

/// 10,000 tokens a minute for each team. Only what is refundable can be settled.
fn limiter() -> Result<Limiter<MemoryStore>, Error> {
    let policy = Policy::named("tokens")
        .unit("tokens")
        .scope("chat")
        .limit(10_000)
        .first_arrival(Duration::from_secs(60))
        .refundable();
    let limiter = Limiter::new(MemoryStore::new(), [policy.build()?])?;
    // A refund says which charge it gives back; a nonce tells charges apart.
    Ok(limiter.with_nonces(CountingNonces::random()))
}

/// Asks the model for `team`. The prompt and the longest answer are reserved, so that many questions at
/// once cannot spend more than there is.
async fn ask(
    limiter: &Limiter<impl BudgetStore>,
    team: &str,
    estimate: u64,
    model: impl AsyncFnOnce() -> u64,
) -> Result<Asked, Error> {
    let admission = match limiter.acquire(team, Cost::new(estimate)?).await? {
        Decision::Admitted(admission) => admission,
        Decision::Denied(denial) => return Ok(Asked::Denied(denial.wait().duration())),
    };
    let used = model().await;
    let mut paid = used.min(estimate);
    if let Some(more) = used.checked_sub(estimate).filter(|more| *more > 0) {
        // The estimate was too low. The rest is a further acquisition, which can be denied: the answer
        // is there already, so the team has had it for less.
        let decision = limiter.acquire(team, Cost::new(more)?).await?;
        paid += if decision.is_admitted() { more } else { 0 };
    }
    for rest in admission
        .into_receipts()
        .filter_map(|receipt| receipt.settle(used))
    {
        let _ = limiter.refund(rest).await?;
    }
    Ok(Asked::Answered { used, paid })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let limiter = limiter()?;
    for (estimate, used) in QUESTIONS {
        let asked = ask(&limiter, "red", estimate, async || used).await?;
        println!("reserved {estimate:>5}, used {used:>5}: {asked:?}");
    }
    Ok(())
}

/// What is reserved for each question, and what it uses.
const QUESTIONS: [(u64, u64); 5] = [
    (4000, 1250),
    (4000, 4000),
    (4000, 6000),
    (1000, 700),
    (750, 750),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_token_is_paid_once_while_there_are_any() {
        let limiter = limiter().unwrap();
        let mut asked = Vec::new();
        for (estimate, used) in QUESTIONS {
            asked.push(ask(&limiter, "red", estimate, async || used).await.unwrap());
        }
        let answered = |used, paid| Asked::Answered { used, paid };
        // 10,000 − 1,250 − 4,000 leaves 4,750: 4,000 are reserved, and 2,000 more are not there.
        assert_eq!(
            asked[..3],
            [
                answered(1250, 1250),
                answered(4000, 4000),
                answered(6000, 4000)
            ]
        );
        // 750 are left: too little for the fourth, and all for the fifth.
        assert!(matches!(asked[3], Asked::Denied(Some(_))), "{asked:?}");
        assert_eq!(asked[4], answered(750, 750));
    }
}
