//! What a rule allows its limit to be, beyond what every limit must be.

use super::TimeRule;
use crate::{Error, Limit};

/// The most entries that a rolling window can need: one per unit or one per millisecond, whichever
/// are fewer. It is exact, so its memory must be bounded: 4,096 entries of 16 bytes are 64 KiB.
pub(crate) const MAX_ROLLING_ENTRIES: u64 = 4096;
/// The most permits of one in-flight budget: each is a member of one sorted set.
pub(crate) const MAX_IN_FLIGHT_LIMIT: u64 = 100_000;
/// The most permits of one acquisition: one script must not add more at a time.
pub(crate) const MAX_IN_FLIGHT_COST: u64 = 1024;

/// Refuses what `rule` cannot keep under `limit`, and names the bound.
pub(super) fn check(rule: &TimeRule, limit: Limit) -> Result<(), Error> {
    match rule {
        TimeRule::FirstArrival { .. } | TimeRule::Aligned { .. } => Ok(()),
        TimeRule::Rolling { length } => {
            let entries = limit.get().min(length.as_millis());
            refuse_if(entries > MAX_ROLLING_ENTRIES, || {
                format!(
                    "a rolling window of limit {limit} and length {length} needs up to {entries} \
                     entries: allowed is min(limit, length in ms) up to {MAX_ROLLING_ENTRIES}"
                )
            })
        }
        TimeRule::TokenBucket { burst, .. } => {
            let fits = *burst <= limit && (burst.get() > 0 || limit.get() == 0);
            refuse_if(!fits, || {
                format!(
                    "burst {burst} is out of bounds: allowed is 1 to the limit, {limit} (for a \
                     larger burst at the same rate, multiply limit and length)"
                )
            })
        }
        TimeRule::InFlight { .. } => refuse_if(limit.get() > MAX_IN_FLIGHT_LIMIT, || {
            format!(
                "an in-flight limit of {limit} is out of bounds: allowed is 0 to \
                 {MAX_IN_FLIGHT_LIMIT}"
            )
        }),
    }
}

fn refuse_if(refused: bool, why: impl FnOnce() -> String) -> Result<(), Error> {
    if refused {
        return Err(Error::invalid(why()));
    }
    Ok(())
}
