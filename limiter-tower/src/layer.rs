//! The layer: what is limited, by whom, and what is told.

use std::fmt;
use std::sync::Arc;

use http::{Response, StatusCode};
use limiter_core::{Budget, BudgetStore, Charge, Cost, Error, Limiter, Permits, Policy, RuleKind};
use tower_layer::Layer;

use crate::{Fields, Head, Identify, RateLimited, WithoutIdentity};

/// Limits what reaches a service. Clones share the limiter.
///
/// A layer has one limiter with one or several policies, which every request is charged to, all or
/// nothing. Routes with other policies have layers of their own, over the same store.
pub struct RateLimitLayer<S> {
    pub(crate) settings: Arc<Settings<S>>,
}

pub(crate) type CostOf = dyn Fn(&Head<'_>) -> Cost + Send + Sync;
pub(crate) type RefundRule = dyn Fn(&Response<()>) -> bool + Send + Sync;

pub(crate) struct Settings<S> {
    pub(crate) limiter: Arc<Limiter<S>>,
    pub(crate) identify: Arc<dyn Identify>,
    pub(crate) cost: Arc<CostOf>,
    pub(crate) service_wide: Vec<Policy>,
    pub(crate) without_identity: WithoutIdentity,
    pub(crate) never_status: StatusCode,
    pub(crate) fields: Fields,
    pub(crate) permits: Option<Permits>,
    pub(crate) refund: Option<Arc<RefundRule>>,
}

impl<S> Clone for Settings<S> {
    fn clone(&self) -> Self {
        Self {
            limiter: Arc::clone(&self.limiter),
            identify: Arc::clone(&self.identify),
            cost: Arc::clone(&self.cost),
            service_wide: self.service_wide.clone(),
            without_identity: self.without_identity,
            never_status: self.never_status,
            fields: self.fields,
            permits: self.permits.clone(),
            refund: self.refund.clone(),
        }
    }
}

impl<S> Clone for RateLimitLayer<S> {
    fn clone(&self) -> Self {
        Self {
            settings: Arc::clone(&self.settings),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for RateLimitLayer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayer")
            .field("limiter", &self.settings.limiter)
            .finish_non_exhaustive()
    }
}

impl<S: BudgetStore> RateLimitLayer<S> {
    /// Charges each request to `limiter`'s policies, one unit of each, for the identity that
    /// `identify` finds.
    pub fn new(limiter: impl Into<Arc<Limiter<S>>>, identify: impl Identify) -> Self {
        Self {
            settings: Arc::new(Settings {
                limiter: limiter.into(),
                identify: Arc::new(identify),
                cost: Arc::new(|_| Cost::ONE),
                service_wide: Vec::new(),
                without_identity: WithoutIdentity::default(),
                never_status: StatusCode::TOO_MANY_REQUESTS,
                fields: Fields::None,
                permits: None,
                refund: None,
            }),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Settings<S>)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Says what a request costs, in each policy's unit; 1 unless it is said.
    #[must_use]
    pub fn cost(self, cost: impl Fn(&Head<'_>) -> Cost + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.cost = Arc::new(cost))
    }

    /// Charges these policies as well, each to the one budget that everybody shares, in the same
    /// decision. The store has to hold both kinds together: a cluster does only in one partition.
    #[must_use]
    pub fn service_wide(self, policies: impl IntoIterator<Item = Policy>) -> Self {
        self.with(|settings| settings.service_wide.extend(policies))
    }

    /// Says what becomes of a request without an identity; 400 unless it is said.
    #[must_use]
    pub fn without_identity(self, choice: WithoutIdentity) -> Self {
        self.with(|settings| settings.without_identity = choice)
    }

    /// The status of a request whose cost can never be admitted; 429 unless it is said. 413 tells
    /// clients that the request is too large, 403 that asking again is of no use.
    #[must_use]
    pub fn never_status(self, status: StatusCode) -> Self {
        self.with(|settings| settings.never_status = status)
    }

    /// Which fields tell what is left; none unless it is said.
    #[must_use]
    pub fn fields(self, fields: Fields) -> Self {
        self.with(|settings| settings.fields = fields)
    }

    /// Where permits of in-flight budgets go when responses end. Needed where a policy is one.
    #[must_use]
    pub fn permits(self, permits: Permits) -> Self {
        self.with(|settings| settings.permits = Some(permits))
    }

    /// Gives back what a request was charged where its response satisfies `rule`, for example
    /// `|response| response.status().is_server_error()`. Needs refundable policies; of others
    /// nothing is given back.
    #[must_use]
    pub fn refund_when(self, rule: impl Fn(&Response<()>) -> bool + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.refund = Some(Arc::new(rule)))
    }

    /// Whether every setting fits the others.
    ///
    /// # Errors
    /// Where a policy is an in-flight budget, and there is nowhere for permits to go.
    pub fn check(self) -> Result<Self, NoPermits> {
        let policies = self.settings.limiter.policies().iter();
        let mut all = policies.chain(&self.settings.service_wide);
        let in_flight = all.find(|policy| policy.rule().kind() == RuleKind::InFlight);
        match in_flight.filter(|_| self.settings.permits.is_none()) {
            Some(policy) => Err(NoPermits(policy.name().to_owned())),
            None => Ok(self),
        }
    }
}

impl<S> Settings<S>
where
    S: BudgetStore,
{
    /// The charges of a request by `identity`; `None` means the budgets that are nobody's own.
    pub(crate) fn charges(
        &self,
        identity: Option<&limiter_core::Identity>,
        cost: Cost,
    ) -> Result<limiter_core::Acquire, Error> {
        let own = self.limiter.policies().iter().map(|policy| match identity {
            Some(identity) => Budget::of(policy, identity.clone()),
            None => Budget::shared(policy),
        });
        let wide = self.service_wide.iter().map(Budget::shared);
        limiter_core::Acquire::all(own.chain(wide).map(|budget| Charge::new(budget, cost)))
    }
}

impl<I, S: BudgetStore> Layer<I> for RateLimitLayer<S> {
    type Service = RateLimited<I, S>;

    fn layer(&self, inner: I) -> Self::Service {
        RateLimited::new(inner, Arc::clone(&self.settings))
    }
}

/// A policy counts what is in flight, and there is nowhere for permits to go: each would last until
/// its lease ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoPermits(String);

impl fmt::Display for NoPermits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "policy {:?} counts what is in flight: give the layer `permits`, and run their releaser",
            self.0
        )
    }
}

impl std::error::Error for NoPermits {}
