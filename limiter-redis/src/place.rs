//! Which slot of a cluster a request goes to, and what part of a limit lies there.

use std::num::NonZeroU16;

use limiter_core::{
    Acquire, Budget, Error, Identity, Limit, Policy, Receipt, Share, WindowIdentity,
};

use crate::key::{HashTags, KeyLayout, Tag};

/// Bytes of a window's identity that say which partition was charged, where the budget alone does not
/// say it. In an instant they are its highest, 0 until the year 10889; a nonce has 112 bits left.
const PARTITION_BYTES: std::ops::Range<usize> = 8..10;
const INSTANT_BITS: u32 = 48;

/// One slot: every key that a script is called with lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) tag: Tag,
    /// The part of the limits of budgets without identity; `None` where they are whole.
    share: Option<Share>,
}

impl Place {
    /// Where all budgets of `request` lie.
    ///
    /// # Errors
    /// *Invalid* where a cluster could not hold them together.
    pub(crate) fn of_request(layout: &KeyLayout, request: &Acquire) -> Result<Self, Error> {
        let budgets = || request.charges().iter().map(|charge| charge.budget());
        let HashTags::Partitions(parts) = layout.tags() else {
            let mut tags = budgets().map(|budget| layout.own_tag(budget));
            let first = tags.next().expect("a request has a charge");
            if tags.any(|tag| tag != first) {
                return Err(Error::invalid(
                    "budgets of several identities, or of an identity and a scope: HashTags::\
                     PerIdentity keeps them in several slots; allowed are budgets of one identity, \
                     and HashTags::Partitions",
                ));
            }
            return Ok(Self::whole(first));
        };
        let mut identities = budgets().filter_map(Budget::identity);
        let first = identities.next();
        if parts.get() > 1 && identities.any(|identity| Some(identity) != first) {
            return Err(Error::invalid(format!(
                "budgets of several identities: HashTags::Partitions({parts}) keeps them in several \
                 slots; allowed are budgets of one identity and of none, and Partitions(1)"
            )));
        }
        match first {
            Some(identity) => Ok(Self::beside(layout, identity, parts)),
            None if parts.get() == 1 => Ok(Self::partition(0, parts)),
            None => Err(Error::invalid(format!(
                "no identity: HashTags::Partitions({parts}) has a part of each budget without one \
                 in every partition; allowed is a budget with an identity beside it, whose partition \
                 is used, and Partitions(1)"
            ))),
        }
    }

    /// Every place in which a part of `budget` lies: one, unless it is in every partition.
    pub(crate) fn all_of(layout: &KeyLayout, budget: &Budget) -> Vec<Self> {
        match (layout.tags(), budget.identity()) {
            (HashTags::PerIdentity, _) => vec![Self::whole(layout.own_tag(budget))],
            (HashTags::Partitions(parts), Some(identity)) => {
                vec![Self::beside(layout, identity, parts)]
            }
            (HashTags::Partitions(parts), None) => {
                let all = 0..parts.get();
                all.map(|part| Self::partition(part, parts)).collect()
            }
        }
    }

    /// Where what `receipt` proves was charged.
    ///
    /// # Errors
    /// *Invalid* where it names a partition that there is not.
    pub(crate) fn of_receipt(layout: &KeyLayout, receipt: &Receipt) -> Result<Self, Error> {
        let budget = receipt.budget();
        let HashTags::Partitions(parts) = layout.tags() else {
            return Ok(Self::whole(layout.own_tag(budget)));
        };
        if let Some(identity) = budget.identity() {
            return Ok(Self::beside(layout, identity, parts));
        }
        if parts.get() == 1 {
            return Ok(Self::partition(0, parts));
        }
        let identity = receipt.window().0;
        let [high, low] = [0, 1].map(|at| identity[PARTITION_BYTES.start + at]);
        let part = u16::from_be_bytes([high, low]);
        if part >= parts.get() {
            return Err(Error::invalid(format!(
                "policy {:?}: a receipt of partition {part}: there are {parts}",
                budget.policy().name()
            )));
        }
        Ok(Self::partition(part, parts))
    }

    fn beside(layout: &KeyLayout, identity: &Identity, parts: NonZeroU16) -> Self {
        Self::partition(layout.partition_of(identity, parts), parts)
    }

    fn partition(part: u16, parts: NonZeroU16) -> Self {
        let of = parts.get();
        let share = Share::new(part.into(), of.into()).expect("a partition is one of its number");
        Self {
            tag: Tag::Partition { part, of },
            share: (of > 1).then_some(share),
        }
    }

    fn whole(tag: Tag) -> Self {
        let share = None;
        Self { tag, share }
    }

    fn share_of(&self, budget: &Budget) -> Option<Share> {
        self.share.filter(|_| budget.identity().is_none())
    }

    /// The policy by which `budget` is decided here.
    pub(crate) fn policy(&self, budget: &Budget) -> Result<Policy, Error> {
        match self.share_of(budget) {
            Some(share) => share.of_policy(budget.policy()),
            None => Ok(budget.policy().clone()),
        }
    }

    /// The limit by which `budget` is decided here.
    pub(crate) fn limit(&self, budget: &Budget) -> Limit {
        let limit = budget.policy().limit();
        self.share_of(budget).map_or(limit, |share| share.of(limit))
    }

    /// The nonce as it is sent.
    pub(crate) fn nonce(&self, mut nonce: [u8; 16]) -> [u8; 16] {
        if let Some(share) = self.share {
            mark(&mut nonce, share);
        }
        nonce
    }

    /// The identity of what was charged at an instant.
    pub(crate) fn identity_at(&self, budget: &Budget, at: WindowIdentity) -> WindowIdentity {
        let mut identity = at;
        if let Some(share) = self.share_of(budget) {
            mark(&mut identity.0, share);
        }
        identity
    }

    /// The instant that an identity is, as it was charged.
    pub(crate) fn instant(&self, budget: &Budget, identity: WindowIdentity) -> Option<u64> {
        let instant = identity.instant()?.as_millis();
        match self.share_of(budget) {
            Some(_) => Some(instant & ((1 << INSTANT_BITS) - 1)),
            None => Some(instant),
        }
    }
}

fn mark(identity: &mut [u8; 16], share: Share) {
    let part = share.part() as u16;
    identity[PARTITION_BYTES].copy_from_slice(&part.to_be_bytes());
}
