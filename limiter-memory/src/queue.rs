//! The deadlines of windows of one length, in the order in which they opened.

use std::collections::VecDeque;

use limiter_core::{Length, Timestamp};

use crate::ShardHash;

/// Records by deadline, the earliest first. They are written as the distance from the first one, so
/// a queue spans 2^32 ms (49 days); where a deadline lies further on, another queue begins.
#[derive(Debug)]
pub(crate) struct Queue {
    length: Length,
    base: Timestamp,
    records: VecDeque<Record>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    hash: ShardHash,
    after_base_ms: u32,
}

const _: () = assert!(size_of::<Record>() == 8);

impl Queue {
    pub(crate) fn beginning_with(length: Length, hash: ShardHash, deadline: Timestamp) -> Self {
        let after_base_ms = 0;
        Self {
            length,
            base: deadline,
            records: VecDeque::from([Record {
                hash,
                after_base_ms,
            }]),
        }
    }

    pub(crate) fn length(&self) -> Length {
        self.length
    }

    /// Adds a record; `false` where its deadline is too far from the first one. Deadlines come in
    /// order, because store time does not go back while the shard is locked.
    pub(crate) fn push(&mut self, hash: ShardHash, deadline: Timestamp) -> bool {
        if self.records.is_empty() {
            self.base = deadline;
        }
        debug_assert!(self.base <= deadline, "store time went back");
        let Ok(after_base_ms) = u32::try_from(deadline.millis_since(self.base)) else {
            return false;
        };
        self.records.push_back(Record {
            hash,
            after_base_ms,
        });
        true
    }

    /// The earliest deadline.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        let first = self.records.front()?;
        Some(self.base.plus_millis(u64::from(first.after_base_ms)))
    }

    /// Takes the first record if its deadline is over.
    pub(crate) fn pop_past(&mut self, now: Timestamp) -> Option<ShardHash> {
        self.due().filter(|deadline| *deadline < now)?;
        self.records.pop_front().map(|record| record.hash)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const BASE: Timestamp = Timestamp::from_millis(1_700_000_000_000);
    const SPAN_MS: u64 = u32::MAX as u64;

    fn queue() -> Queue {
        let length = Length::new(Duration::from_secs(1)).unwrap();
        Queue::beginning_with(length, ShardHash(1), BASE)
    }

    #[test]
    fn a_deadline_is_over_one_millisecond_after_it() {
        let mut queue = queue();
        assert_eq!(queue.pop_past(BASE), None);
        assert_eq!(queue.pop_past(BASE.plus_millis(1)), Some(ShardHash(1)));
        assert_eq!(queue.due(), None);
    }

    #[test]
    fn a_queue_spans_49_days_and_an_empty_one_begins_anew() {
        let mut queue = queue();
        assert!(queue.push(ShardHash(2), BASE.plus_millis(SPAN_MS)));
        assert!(!queue.push(ShardHash(3), BASE.plus_millis(SPAN_MS + 1)));
        let later = BASE.plus_millis(SPAN_MS + 1);
        assert_eq!(queue.pop_past(later), Some(ShardHash(1)));
        assert_eq!(queue.due(), Some(BASE.plus_millis(SPAN_MS)));
        assert_eq!(queue.pop_past(later), Some(ShardHash(2)));
        assert!(queue.push(ShardHash(3), later));
        assert_eq!(queue.due(), Some(later));
    }
}
