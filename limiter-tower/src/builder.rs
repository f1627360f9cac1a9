//! What a layer can be told when it is made.

use std::fmt;
use std::sync::Arc;

use http::{Response, StatusCode};
use limiter_core::{Budget, BudgetStore, Cost, Limiter, Permits, Policy, RuleKind, Together};

use crate::fields::PartitionKeys;
use crate::layer::Settings;
use crate::{Fields, Head, Identify, RateLimitLayer, WithoutIdentity};

/// Builds a [`RateLimitLayer`]; [`build`](Self::build) checks what it was told. Clones share the limiter.
#[must_use = "a builder does nothing until it builds"]
pub struct RateLimitLayerBuilder<S> {
    settings: Settings<S>,
}

impl<S: BudgetStore> RateLimitLayerBuilder<S> {
    pub(crate) fn new(limiter: Arc<Limiter<S>>, identify: Arc<dyn Identify>) -> Self {
        Self {
            settings: Settings {
                limiter,
                identify,
                cost: Arc::new(|_| Cost::ONE),
                service_wide: Vec::new(),
                without_identity: WithoutIdentity::default(),
                never_status: StatusCode::TOO_MANY_REQUESTS,
                fields: Fields::None,
                partition_keys: None,
                permits: None,
                refund: None,
            },
        }
    }

    /// Says what a request costs, in each policy's unit; 1 unless it is said.
    pub fn cost(mut self, cost: impl Fn(&Head<'_>) -> Cost + Send + Sync + 'static) -> Self {
        self.settings.cost = Arc::new(cost);
        self
    }

    /// Charges these policies as well, each to the one budget that everybody shares, in the same
    /// decision. The store has to hold both kinds together: a cluster does only in one partition.
    pub fn service_wide(mut self, policies: impl IntoIterator<Item = Policy>) -> Self {
        self.settings.service_wide.extend(policies);
        self
    }

    /// Says what becomes of a request without an identity; 400 unless it is said.
    pub fn without_identity(mut self, choice: WithoutIdentity) -> Self {
        self.settings.without_identity = choice;
        self
    }

    /// The status of a request whose cost can never be admitted, 400 to 499; 429 unless it is said.
    /// 413 tells clients that the request is too large, 403 that asking again is of no use.
    pub fn never_status(mut self, status: StatusCode) -> Self {
        self.settings.never_status = status;
        self
    }

    /// Which fields tell what is left; none unless it is said.
    pub fn fields(mut self, fields: Fields) -> Self {
        self.settings.fields = fields;
        self
    }

    /// Sends a partition key with [`Fields::Draft11`]: which of a policy's budgets the field tells of,
    /// as the 128-bit SipHash of the identity under `key`. Equal identities have equal partition
    /// keys under one `key`, so choose it at random, and the same one in every process of a service:
    /// whoever knows it can try identities.
    pub fn partition_keys(mut self, key: [u8; 16]) -> Self {
        self.settings.partition_keys = Some(PartitionKeys::new(key));
        self
    }

    /// Where permits of in-flight budgets go when responses end. Needed where a policy is one.
    pub fn permits(mut self, permits: Permits) -> Self {
        self.settings.permits = Some(permits);
        self
    }

    /// Gives back what a request was charged where its response satisfies `rule`, for example
    /// `|response| response.status().is_server_error()`. Only refundable policies give back.
    ///
    /// The rule sees responses. Where the service fails with an error of its own there is none, and
    /// what the request was charged stays charged: turn such errors into responses further in.
    pub fn refund_when(
        mut self,
        rule: impl Fn(&Response<()>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.refund = Some(Arc::new(rule));
        self
    }

    /// Checks everything and builds the layer.
    ///
    /// # Errors
    /// Where a policy is an in-flight budget, and there is nowhere for permits to go; where a policy needs
    /// nonces, and the limiter brings none; where a request would be charged to one budget twice; where responses
    /// are to be refunded, and no policy is refundable; where a status is none of a refusal; where partition
    /// keys would be sent in fields that have no place for them; and where the store cannot keep a
    /// service-wide policy, or not all policies in one decision.
    pub fn build(self) -> Result<RateLimitLayer<S>, UnusableLayer> {
        let settings = &self.settings;
        let mut all = settings
            .limiter
            .policies()
            .iter()
            .chain(&settings.service_wide);
        let in_flight = all
            .clone()
            .find(|policy| policy.rule().kind() == RuleKind::InFlight);
        if let Some(policy) = in_flight.filter(|_| settings.permits.is_none()) {
            return Err(UnusableLayer(format!(
                "policy {:?} counts what is in flight: give the layer `permits`, and run their releaser",
                policy.name()
            )));
        }
        if settings.refund.is_some() && !all.any(Policy::is_refundable) {
            return Err(UnusableLayer(
                "responses are to be refunded, and no policy is refundable".to_owned(),
            ));
        }
        if settings.partition_keys.is_some() && settings.fields != Fields::Draft11 {
            return Err(UnusableLayer(
                "partition keys are sent with Fields::Draft11 only".to_owned(),
            ));
        }
        let never = settings.never_status;
        if !never.is_client_error() {
            let never = never.as_u16();
            return Err(UnusableLayer(format!(
                "never_status {never}: what a caller is told about its own request is 400 to 499"
            )));
        }
        if let WithoutIdentity::Reject(status) = settings.without_identity
            && !(status.is_client_error() || status.is_server_error())
        {
            let status = status.as_u16();
            return Err(UnusableLayer(format!(
                "WithoutIdentity::Reject({status}): a refusal is 400 to 599"
            )));
        }
        self.check_store()?;
        self.check_charges()?;
        Ok(RateLimitLayer {
            settings: Arc::new(self.settings),
        })
    }

    /// Whether the store keeps all policies, and all of them together.
    fn check_store(&self) -> Result<(), UnusableLayer> {
        let (limiter, wide) = (&self.settings.limiter, &self.settings.service_wide);
        let (offered, store) = (limiter.store().capabilities(), limiter.store());
        let refused = |error: limiter_core::Error| UnusableLayer(error.message().to_owned());
        for policy in wide {
            offered.check(policy, store).map_err(refused)?;
        }
        let all = limiter.policies().len() + wide.len();
        if all > offered.max_charges {
            return Err(UnusableLayer(format!(
                "{all} policies in one decision: {store} takes at most {}",
                offered.max_charges
            )));
        }
        Ok(())
    }
}

impl<S: BudgetStore> RateLimitLayerBuilder<S> {
    /// Whether one request can be charged to all policies as it is.
    fn check_charges(&self) -> Result<(), UnusableLayer> {
        let (limiter, wide) = (&self.settings.limiter, &self.settings.service_wide);
        let own = limiter.policies();
        let mut all = own.iter().chain(wide);
        if let Some(policy) = all.find(|policy| policy.needs_nonce() && !limiter.brings_nonces()) {
            return Err(UnusableLayer(format!(
                "policy {:?} needs a nonce for each charge: give the limiter some, `with_nonces`",
                policy.name()
            )));
        }
        let shares = self.settings.without_identity == WithoutIdentity::Share;
        let shared = wide.iter().chain(own.iter().filter(|_| shares));
        let shared: Vec<&Policy> = shared.collect();
        for (at, policy) in shared.iter().enumerate() {
            let budget = Budget::shared(policy);
            if let Some(other) = shared[..at]
                .iter()
                .find(|other| Budget::shared(other) == budget)
            {
                return Err(UnusableLayer(format!(
                    "policies {:?} and {:?} have one budget that everybody shares: it would be charged \
                     twice; give them scopes of their own",
                    other.name(),
                    policy.name()
                )));
            }
        }
        let store = limiter.store();
        let beside = !own.is_empty() && !wide.is_empty();
        match store.capabilities().together {
            Together::OneIdentity if beside => Err(UnusableLayer(format!(
                "service-wide policies beside those of an identity: {store} charges together what is of \
                 one identity only; give them a layer of their own"
            ))),
            Together::BesideOneIdentity if shares => Err(UnusableLayer(format!(
                "WithoutIdentity::Share: {store} charges what everybody shares beside an identity only"
            ))),
            _ => Ok(()),
        }
    }
}

impl<S> Clone for RateLimitLayerBuilder<S> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings.clone(),
        }
    }
}

impl<S: fmt::Debug> fmt::Debug for RateLimitLayerBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimitLayerBuilder")
            .field("limiter", &self.settings.limiter)
            .finish_non_exhaustive()
    }
}

/// Settings that do not fit each other, or the store: says which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableLayer(String);

impl fmt::Display for UnusableLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnusableLayer {}
