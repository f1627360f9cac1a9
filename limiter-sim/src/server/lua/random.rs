//! The generator behind `math.random`: that of `drand48`, which Redis carries along so that all platforms
//! agree.

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;

/// 48 bits of state. From Redis 7.0 on they live as long as the process; before, each script starts from
/// seed 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RandomState(u64);

impl Default for RandomState {
    fn default() -> Self {
        Self(0x1234_ABCD_330E)
    }
}

impl RandomState {
    /// The state after `srand48(seed)`.
    pub(crate) fn seeded(seed: i32) -> Self {
        Self(u64::from(seed as u32) << 16 | 0x330E)
    }

    /// The next 31 bits.
    pub(crate) fn draw(&mut self) -> i64 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        (self.0 >> 17) as i64
    }
}
