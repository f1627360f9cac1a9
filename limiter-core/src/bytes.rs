//! Reading what was written in bytes: numbers of eight bytes and identities of sixteen, little end
//! first.

use crate::{MAX_UNITS, Timestamp, WindowIdentity};

/// Bytes that are taken from the front. Whatever it refuses is refused by `None`.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn units(&mut self) -> Option<u64> {
        self.number().filter(|units| *units <= MAX_UNITS)
    }

    pub(crate) fn instant(&mut self) -> Option<Timestamp> {
        self.number().map(Timestamp::from_millis)
    }

    pub(crate) fn identity(&mut self) -> Option<WindowIdentity> {
        self.array().map(WindowIdentity)
    }

    /// A list of up to `most`: their number, and each as `take` takes it.
    pub(crate) fn list<T>(
        &mut self,
        most: usize,
        mut take: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = usize::try_from(self.number()?).ok()?;
        if count > most {
            return None;
        }
        (0..count).map(|_| take(self)).collect()
    }
}
