//! A store bound to policies, and to what its failure means.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    Acquire, Admission, Authority, Budget, BudgetStore, Charge, Cost, Decision, Error, ErrorKind,
    FailureMode, Identity, Nonces, Observer, Policy, Receipt, Refunded, Renewed, RequestId,
};

/// Binds a store to the policies that one kind of work is charged to, and to a [`FailureMode`].
///
/// ```no_run
/// # async fn example(store: impl limiter_core::BudgetStore) -> Result<(), limiter_core::Error> {
/// use std::time::Duration;
/// use limiter_core::{Cost, Decision, Limiter, Policy};
///
/// let policy = Policy::named("log-in")
///     .scope("POST /session")
///     .limit(5)
///     .first_arrival(Duration::from_secs(60))
///     .build()?;
/// let limiter = Limiter::new(store, [policy])?;
/// match limiter.acquire("alice", Cost::ONE).await? {
///     Decision::Admitted(_) => { /* do the work */ }
///     Decision::Denied(denial) => println!("try again: {:?}", denial.wait()),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Limiter<S> {
    store: S,
    policies: Vec<Policy>,
    failure_mode: FailureMode,
    nonces: Option<Box<dyn Nonces>>,
    observer: Option<Box<dyn Observer>>,
    admitted_by_mode: AtomicU64,
}

impl<S: BudgetStore> Limiter<S> {
    /// Charges every policy in `policies` for each acquisition, all or nothing, and refuses when
    /// `store` cannot decide.
    ///
    /// # Errors
    /// *Invalid* where there is no policy, where there are more than the store takes at once, where
    /// it cannot keep one of them, or where two of them share their budgets.
    pub fn new(store: S, policies: impl IntoIterator<Item = Policy>) -> Result<Self, Error> {
        let policies: Vec<Policy> = policies.into_iter().collect();
        Acquire::all(charges(&policies, "", Cost::ONE))?;
        let offered = store.capabilities();
        let most = offered.max_charges;
        if policies.len() > most {
            return Err(Error::invalid(format!(
                "{} policies in one acquisition: {store} takes at most {most}",
                policies.len()
            )));
        }
        for policy in &policies {
            offered.check(policy, &store)?;
        }
        Ok(Self {
            store,
            policies,
            failure_mode: FailureMode::Refuse,
            nonces: None,
            observer: None,
            admitted_by_mode: AtomicU64::new(0),
        })
    }

    /// Says what to do when the store cannot decide.
    #[must_use]
    pub fn on_failure(mut self, mode: FailureMode) -> Self {
        self.failure_mode = mode;
        self
    }

    /// Says where nonces come from: needed for refundable windows and for in-flight budgets. In an
    /// application that is [`CountingNonces::random`](crate::CountingNonces::random).
    #[must_use]
    pub fn with_nonces(mut self, nonces: impl Nonces + 'static) -> Self {
        self.nonces = Some(Box::new(nonces));
        self
    }

    /// Whether it brings nonces for those requests that need one and have none.
    pub fn brings_nonces(&self) -> bool {
        self.nonces.is_some()
    }

    /// Tells `observer` what callers are told, after the failure mode: what the store itself
    /// answered, a wrapper around it can tell.
    #[must_use]
    pub fn observed_by(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Asks for `cost` units of every policy's budget of `identity`, all or nothing.
    ///
    /// # Errors
    /// As the store's, where the failure mode does not decide instead.
    ///
    /// # Cancel safety
    /// A dropped future may have charged.
    pub async fn acquire(
        &self,
        identity: impl Into<Identity>,
        cost: Cost,
    ) -> Result<Decision, Error> {
        let request = Acquire::all(charges(&self.policies, identity, cost))?;
        self.decide(request).await
    }

    /// As [`acquire`](Self::acquire), under a request id: after *uncertain* it may be called again
    /// with the same arguments, and charges once.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); *invalid* where the store does not remember requests, or the id
    /// was used for something else.
    ///
    /// # Cancel safety
    /// A dropped future may have charged; the repeat tells.
    pub async fn acquire_once(
        &self,
        id: RequestId,
        identity: impl Into<Identity>,
        cost: Cost,
    ) -> Result<Decision, Error> {
        let request = Acquire::all(charges(&self.policies, identity, cost))?;
        self.decide(request.with_id(id)).await
    }

    /// Decides any `request` with this limiter's store, nonces and failure mode, whatever its
    /// policies: for budgets of different identities and for different costs.
    ///
    /// # Errors
    /// As the store's, where the failure mode does not decide instead.
    ///
    /// # Cancel safety
    /// A dropped future may have charged.
    pub async fn decide(&self, mut request: Acquire) -> Result<Decision, Error> {
        if let Some(nonces) = &self.nonces
            && request.nonce().is_none()
            && request.needs_nonce()
        {
            request = request.with_nonce(nonces.next());
        }
        let answer = match self.store.acquire(&request).await {
            Err(error) => self.without_store(&request, error).await,
            decided => decided,
        };
        if let Some(observer) = &self.observer {
            observer.observe(&request, answer.as_ref());
        }
        answer
    }

    /// Gives back what `receipt` proves was charged, to whoever was charged.
    ///
    /// ```
    /// # use limiter_core::{BudgetStore, Cost, Decision, Error, Limiter};
    /// // A budget of language-model tokens: reserve an estimate, settle when the real number is
    /// // known.
    /// # async fn answer(prompt: &str) -> u64 { prompt.len() as u64 }
    /// async fn ask(limiter: &Limiter<impl BudgetStore>, user: &str, prompt: &str) -> Result<(), Error> {
    ///     let estimate = Cost::new(4000)?;
    ///     let Decision::Admitted(admission) = limiter.acquire(user, estimate).await? else {
    ///         return Ok(());
    ///     };
    ///     let used = answer(prompt).await;
    ///     if used > estimate.get() {
    ///         // More than was reserved: a further acquisition, which can be denied.
    ///         let _ = limiter.acquire(user, Cost::new(used - estimate.get())?).await?;
    ///     }
    ///     for receipt in admission.into_receipts().filter_map(|receipt| receipt.settle(used)) {
    ///         let _ = limiter.refund(receipt).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As the store's; *invalid* for a receipt of a fallback that this limiter does not have.
    ///
    /// # Cancel safety
    /// A dropped future may have given back.
    pub async fn refund(&self, receipt: Receipt) -> Result<Refunded, Error> {
        match receipt.authority() {
            Authority::Fallback => self.fallback()?.refund(receipt).await,
            _ => self.store.refund(receipt).await,
        }
    }

    /// Lets the leases that `receipt` names end a full lease from now, unless they end later.
    ///
    /// # Errors
    /// As the store's; *invalid* for a receipt of a fallback that this limiter does not have.
    pub async fn renew(&self, receipt: &Receipt) -> Result<Renewed, Error> {
        match receipt.authority() {
            Authority::Fallback => self.fallback()?.renew(receipt).await,
            _ => self.store.renew(receipt).await,
        }
    }

    fn fallback(&self) -> Result<&dyn BudgetStore, Error> {
        match &self.failure_mode {
            FailureMode::Fallback { store, .. } => Ok(&**store),
            _ => Err(Error::invalid(
                "a receipt of a fallback store, and this limiter has none",
            )),
        }
    }

    async fn without_store(&self, request: &Acquire, error: Error) -> Result<Decision, Error> {
        let undecided = matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Uncertain);
        match &self.failure_mode {
            FailureMode::Admit if undecided => {
                self.admitted_by_mode.fetch_add(1, Ordering::Relaxed);
                Ok(Decision::Admitted(Admission::by_failure_mode()))
            }
            FailureMode::Fallback { store, share } if undecided => {
                let mut request = request.under(|policy| Ok(policy.at_most(*share)))?;
                if !store.capabilities().request_ids {
                    request = request.without_id();
                }
                let decision = store.acquire(&request).await?;
                Ok(match decision {
                    Decision::Admitted(admission) => {
                        self.admitted_by_mode.fetch_add(1, Ordering::Relaxed);
                        Decision::Admitted(admission.by(Authority::Fallback))
                    }
                    denied @ Decision::Denied(_) => denied,
                })
            }
            _ => Err(error),
        }
    }

    /// How many acquisitions the failure mode admitted in place of the store, since this limiter
    /// was made.
    pub fn admitted_by_failure_mode(&self) -> u64 {
        self.admitted_by_mode.load(Ordering::Relaxed)
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// The policies that every acquisition is charged to.
    pub fn policies(&self) -> &[Policy] {
        &self.policies
    }
}

fn charges(
    policies: &[Policy],
    identity: impl Into<Identity>,
    cost: Cost,
) -> impl Iterator<Item = Charge> {
    let identity = identity.into();
    policies
        .iter()
        .map(move |policy| Charge::new(Budget::of(policy, identity.clone()), cost))
}
