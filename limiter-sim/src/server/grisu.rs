//! The digits of floating-point numbers as servers since Redis 7.2 choose them.
//!
//! They use Loitsch's Grisu2, which for about one number in a thousand finds more digits than necessary.
//! Exact shortest digits would differ there, so the algorithm is followed in its own precision of 64 bits.

use std::sync::OnceLock;

/// `fraction · 2^exponent`.
#[derive(Clone, Copy, Debug)]
struct Scaled {
    fraction: u64,
    exponent: i32,
}

const HIDDEN_BIT: u64 = 1 << 52;
/// The powers of ten that are at hand: every eighth from the first.
const FIRST_POWER: i32 = -348;
const POWER_STEP: i32 = 8;
const POWERS: usize = 87;
/// Products must have an exponent in this range for the digits to be taken out of 64 bits.
const PRODUCT_EXPONENTS: std::ops::RangeInclusive<i32> = -60..=-32;

impl Scaled {
    fn normalized(self) -> Self {
        let shift = self.fraction.leading_zeros();
        Self {
            fraction: self.fraction << shift,
            exponent: self.exponent - shift as i32,
        }
    }

    /// The product, rounded to 64 bits.
    fn times(self, other: Self) -> Self {
        let product = u128::from(self.fraction) * u128::from(other.fraction) + (1 << 63);
        Self {
            fraction: (product >> 64) as u64,
            exponent: self.exponent + other.exponent + 64,
        }
    }
}

/// The digits of a positive finite number, and the power of ten of the last one.
pub(crate) fn digits(number: f64) -> (Vec<u8>, i32) {
    let bits = number.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & (HIDDEN_BIT - 1));
    let value = match field {
        0 => Scaled {
            fraction,
            exponent: -1_074,
        },
        _ => Scaled {
            fraction: fraction | HIDDEN_BIT,
            exponent: field - 1_075,
        },
    };
    // Half way to the neighbours; the one below is nearer at a power of two.
    let upper = Scaled {
        fraction: value.fraction * 2 + 1,
        exponent: value.exponent - 1,
    }
    .normalized();
    let near = if value.fraction == HIDDEN_BIT { 2 } else { 1 };
    let lower = Scaled {
        fraction: (value.fraction << near) - 1,
        exponent: value.exponent - near,
    };
    let lower = Scaled {
        fraction: lower.fraction << (lower.exponent - upper.exponent),
        exponent: upper.exponent,
    };
    let (power, ten) = power_for(upper.exponent);
    let (value, mut upper, mut lower) = (
        value.normalized().times(power),
        upper.times(power),
        lower.times(power),
    );
    lower.fraction += 1;
    upper.fraction -= 1;
    let (digits, exponent) = generate(value, upper, upper.fraction - lower.fraction);
    (digits, exponent - ten)
}

/// The digits of `upper` as far as `delta` allows, drawn towards `value`.
fn generate(value: Scaled, upper: Scaled, mut delta: u64) -> (Vec<u8>, i32) {
    let shift = upper.exponent.unsigned_abs();
    let one = 1_u64 << shift;
    let mut distance = upper.fraction - value.fraction;
    let (mut whole, mut part) = (upper.fraction >> shift, upper.fraction & (one - 1));
    let mut digits = Vec::with_capacity(18);
    let push = |digits: &mut Vec<u8>, digit: u64| {
        if digit > 0 || !digits.is_empty() {
            digits.push(digit as u8);
        }
    };
    for exponent in (0..10).rev() {
        let unit = 10_u64.pow(exponent);
        push(&mut digits, whole / unit);
        whole %= unit;
        let rest = (whole << shift) + part;
        if rest <= delta {
            approach(&mut digits, delta, rest, unit << shift, distance);
            return (digits, exponent as i32);
        }
    }
    for exponent in 1.. {
        (part, delta, distance) = (part * 10, delta * 10, distance.wrapping_mul(10));
        push(&mut digits, part >> shift);
        part &= one - 1;
        if part < delta {
            approach(&mut digits, delta, part, one, distance);
            return (digits, -exponent);
        }
    }
    unreachable!("the digits of a 64-bit fraction end")
}

/// Lowers the last digit while that brings the number nearer to the value.
fn approach(digits: &mut [u8], delta: u64, mut rest: u64, unit: u64, distance: u64) {
    while rest < distance
        && delta - rest >= unit
        && (rest + unit < distance || distance - rest > rest + unit - distance)
    {
        if let Some(last) = digits.last_mut() {
            *last -= 1;
        }
        rest += unit;
    }
}

/// A power of ten that brings a number with this exponent into range, and which one.
fn power_for(exponent: i32) -> (Scaled, i32) {
    static TABLE: OnceLock<Vec<Scaled>> = OnceLock::new();
    let table = TABLE.get_or_init(powers);
    let guess = (f64::from(-(exponent + POWERS as i32)) * std::f64::consts::LOG10_2) as i32;
    let mut at = ((guess - FIRST_POWER) / POWER_STEP) as usize;
    loop {
        let product = exponent + table[at].exponent + 64;
        if product < *PRODUCT_EXPONENTS.start() {
            at += 1;
        } else if product > *PRODUCT_EXPONENTS.end() {
            at -= 1;
        } else {
            return (table[at], FIRST_POWER + at as i32 * POWER_STEP);
        }
    }
}

/// The powers of ten, computed with 256 bits and rounded to 64.
fn powers() -> Vec<Scaled> {
    const ORIGIN: usize = (-FIRST_POWER) as usize % POWER_STEP as usize;
    let one_at = (-FIRST_POWER / POWER_STEP) as usize;
    // The table does not hold 10^0, but 10^-4 and 10^4.
    debug_assert_eq!(ORIGIN, 4);
    let mut low = Wide::one();
    low.divide(10_000);
    let mut table = vec![
        Scaled {
            fraction: 0,
            exponent: 0
        };
        POWERS
    ];
    let mut high = low.clone();
    for slot in &mut table[one_at..] {
        *slot = high.rounded();
        high.multiply(100_000_000);
    }
    for slot in table[..one_at].iter_mut().rev() {
        low.divide(100_000_000);
        *slot = low.rounded();
    }
    table
}

/// A number of 256 bits, most significant words first, with the top bit set.
#[derive(Clone)]
struct Wide {
    words: [u32; 8],
    exponent: i32,
}

impl Wide {
    fn one() -> Self {
        Self {
            words: [1 << 31, 0, 0, 0, 0, 0, 0, 0],
            exponent: -255,
        }
    }

    fn multiply(&mut self, by: u32) {
        let mut carry = 0_u64;
        for word in self.words.iter_mut().rev() {
            carry += u64::from(*word) * u64::from(by);
            *word = carry as u32;
            carry >>= 32;
        }
        while carry > 0 {
            self.shift_right(carry as u32 & 1);
            carry >>= 1;
        }
    }

    fn divide(&mut self, by: u32) {
        let mut rest = 0_u64;
        for word in &mut self.words {
            let part = rest << 32 | u64::from(*word);
            *word = (part / u64::from(by)) as u32;
            rest = part % u64::from(by);
        }
        while self.words[0] >> 31 == 0 {
            rest *= 2;
            self.shift_left((rest / u64::from(by)) as u32);
            rest %= u64::from(by);
        }
    }

    fn shift_right(&mut self, mut bit: u32) {
        for word in &mut self.words {
            let next = *word & 1;
            *word = *word >> 1 | bit << 31;
            bit = next;
        }
        self.exponent += 1;
    }

    fn shift_left(&mut self, mut bit: u32) {
        for word in self.words.iter_mut().rev() {
            let next = *word >> 31;
            *word = *word << 1 | bit;
            bit = next;
        }
        self.exponent -= 1;
    }

    fn rounded(&self) -> Scaled {
        let top = u64::from(self.words[0]) << 32 | u64::from(self.words[1]);
        let up = u64::from(self.words[2] >> 31);
        Scaled {
            fraction: top + up,
            exponent: self.exponent + 192,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::digits;

    fn text(number: f64) -> String {
        let (digits, exponent) = digits(number);
        let digits: String = digits
            .iter()
            .map(|digit| char::from(b'0' + digit))
            .collect();
        format!("{digits}e{exponent}")
    }

    #[test]
    fn short_numbers_have_short_digits() {
        assert_eq!(text(0.1), "1e-1");
        assert_eq!(text(1.5), "15e-1");
        assert_eq!(text(1e300), "1e300");
        assert_eq!(text(f64::MIN_POSITIVE), "22250738585072014e-324");
    }

    #[test]
    fn some_numbers_have_more_digits_than_necessary() {
        // As the servers print them.
        assert_eq!(text(1e23), "9999999999999999e7");
        assert_eq!(text(27.277_945_619_335_35), "27277945619335348e-15");
        assert_eq!(text(4.138_190_954_773_87), "41381909547738696e-16");
    }

    #[test]
    fn all_digits_read_back_as_the_number() {
        let mut bits = 1_u64;
        for _ in 0..10_000 {
            bits = bits
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let number = f64::from_bits(bits & !(1 << 63));
            if number.is_finite() && number > 0.0 {
                assert_eq!(text(number).parse(), Ok(number));
            }
        }
    }
}
