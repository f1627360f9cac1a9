//! The one primitive: to choose one of several options.

/// SplitMix64: a small, well-distributed generator whose whole state is one word. The simulator
/// needs the same numbers on every machine and in every version, which general-purpose libraries do
/// not promise.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Other numbers for each `stream`; the first is that of the seed alone.
    pub(crate) fn stream(seed: u64, stream: u64) -> Self {
        match stream {
            0 => Self::seeded(seed),
            _ => Self(Self(seed).next() ^ Self(stream).next()),
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `options` − 1. The bias is below 2^-48 for 65,536 options.
    pub(crate) fn below(&mut self, options: usize) -> usize {
        let product = u128::from(self.next()) * options as u128;
        usize::try_from(product >> 64).expect("smaller than `options`")
    }
}
