//! The layer: what is limited, by whom, and what is told.

use std::fmt;
use std::sync::Arc;

use http::{Response, StatusCode};
use limiter_core::{Budget, BudgetStore, Charge, Cost, Error, Limiter, Permits, Policy};
use tower_layer::Layer;

use crate::builder::RateLimitLayerBuilder;
use crate::fields::PartitionKeys;
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
    pub(crate) partition_keys: Option<PartitionKeys>,
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
            partition_keys: self.partition_keys,
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
    /// Charges each request to `limiter`'s policies, one unit of each unless it is said otherwise, for
    /// the identity that `identify` finds.
    pub fn builder(
        limiter: impl Into<Arc<Limiter<S>>>,
        identify: impl Identify,
    ) -> RateLimitLayerBuilder<S> {
        RateLimitLayerBuilder::new(limiter.into(), Arc::new(identify))
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
