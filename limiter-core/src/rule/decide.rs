//! A whole acquisition on stored states.

use smallvec::SmallVec;

use crate::{Acquire, Admission, Denial, Error, Refusal, Timestamp};

use super::{State, Verdict};

/// What an acquisition comes to.
#[derive(Debug)]
pub enum Step {
    /// Every charge fits.
    Admit {
        /// The answer.
        admission: Admission,
        /// What to save in place of what was loaded, one per charge, in their order.
        states: SmallVec<[State; 1]>,
    },
    /// Save nothing.
    Deny(Denial),
}

/// Decides `request` on what is stored for its budgets, one for each charge in their order: judges
/// every charge before it applies the first. The caller checks [`Acquire::check`] before.
///
/// # Errors
/// *Corrupt* for a state of another rule; *invalid* where a nonce is needed and missing, or names a
/// lease already. Nothing is charged.
///
/// # Panics
/// Where there are not as many stored states as charges.
pub fn decide(
    request: &Acquire,
    stored: impl IntoIterator<Item = Option<State>>,
    now: Timestamp,
) -> Result<Step, Error> {
    let stored: SmallVec<[Option<State>; 1]> = stored.into_iter().collect();
    let charges = request.charges();
    assert_eq!(stored.len(), charges.len(), "one stored state per charge");
    let mut refusals = SmallVec::<[Refusal; 1]>::new();
    for (state, charge) in stored.iter().zip(charges) {
        let verdict = State::judge(state.as_ref(), now, charge, request.nonce())?;
        if let Verdict::Deny { remaining, wait } = verdict {
            let budget = charge.budget().clone();
            refusals.push(Refusal {
                budget,
                remaining,
                wait,
            });
        }
    }
    if !refusals.is_empty() {
        return Ok(Step::Deny(Denial::new(refusals)));
    }
    let mut states = SmallVec::new();
    let mut grants = SmallVec::<[_; 1]>::new();
    for (state, charge) in stored.into_iter().zip(charges) {
        let (state, grant) = State::charge(state, now, charge, request.nonce())?;
        states.push(state);
        grants.push(grant);
    }
    let mut admission = Admission::new(grants);
    if let Some(remembered) = request.remembered() {
        admission = admission.of_request(remembered.id());
    }
    Ok(Step::Admit { admission, states })
}
