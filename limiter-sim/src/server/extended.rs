//! Sums in the 80-bit format that servers on x86 use for `INCRBYFLOAT`, where they can be told exactly.
//!
//! The server adds two `long double`s and prints 17 decimals. As long as both numbers are decimals with few
//! digits, the 64 bits of their mantissas hold all that is printed, and the sum is that of exact decimals.

/// A number as `strtold` reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extended {
    /// Units of 10^-17.
    Exact(i128),
    /// A number that is too large or too fine for that.
    Rough(f64),
}

/// What `INCRBYFLOAT` makes of two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    /// The text of the result.
    Number(String),
    /// The result is not finite.
    Infinite,
    /// About this, but its last digits are not known.
    Unknown(String),
}

const DECIMALS: usize = 17;
/// Below this many units the 64 bits of a mantissa are finer than half a unit.
const EXACT_LIMIT: i128 = 1 << 61;

impl Extended {
    /// Reads a number that is the whole text and not NaN.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let rough = super::number::parse_float(bytes)?;
        Some(exact(bytes).map_or(Self::Rough(rough), Self::Exact))
    }

    fn rough(self) -> f64 {
        match self {
            Self::Exact(units) => units as f64 / 1e17,
            Self::Rough(number) => number,
        }
    }

    /// The sum of two numbers.
    pub(crate) fn add(self, other: Self) -> Sum {
        if let (Self::Exact(a), Self::Exact(b)) = (self, other) {
            let sum = a + b;
            let small = |units: i128| units.abs() < EXACT_LIMIT;
            if [a, b, sum]
                .iter()
                .all(|units| small(*units) || is_dyadic(*units))
            {
                return Sum::Number(decimal(sum));
            }
        }
        let sum = self.rough() + other.rough();
        if !sum.is_finite() {
            return Sum::Infinite;
        }
        Sum::Unknown(decimal_of(sum))
    }
}

/// Whether a 64-bit mantissa holds the number without rounding.
fn is_dyadic(units: i128) -> bool {
    let one = 10_i128.pow(DECIMALS as u32);
    // 10^17 is 2^17 · 5^17: multiples of 5^17 units have at most 17 binary places.
    units % one == 0 || units % 5_i128.pow(DECIMALS as u32) == 0 && units.abs() < one << 46
}

/// The units of a plain decimal, if it has no finer ones and is below 10^18.
fn exact(bytes: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut units: i128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = i128::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
        units = units.checked_mul(10)?.checked_add(digit)?;
    }
    let shift = DECIMALS as i32 + exponent - i32::try_from(fraction.len()).ok()?;
    let scale = 10_i128.checked_pow(shift.unsigned_abs())?;
    let units = match shift {
        0.. => units.checked_mul(scale)?,
        _ if units % scale == 0 => units / scale,
        _ => return None,
    };
    let units = Some(units).filter(|units| *units < 10_i128.pow(35))?;
    Some(if negative { -units } else { units })
}

fn decimal(units: i128) -> String {
    let one = 10_u128.pow(DECIMALS as u32);
    let sign = if units < 0 { "-" } else { "" };
    let (whole, fraction) = (units.unsigned_abs() / one, units.unsigned_abs() % one);
    trim(format!("{sign}{whole}.{fraction:0DECIMALS$}"))
}

fn decimal_of(number: f64) -> String {
    trim(format!("{number:.DECIMALS$}"))
}

fn trim(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Extended, Sum};

    fn sum(a: &str, b: &str) -> Sum {
        Extended::parse(a.as_bytes())
            .unwrap()
            .add(Extended::parse(b.as_bytes()).unwrap())
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(sum("0.1", "0.2"), Sum::Number("0.3".into()));
        assert_eq!(sum("10.5", "-10.5"), Sum::Number("0".into()));
        assert_eq!(sum("5.0e3", "200"), Sum::Number("5200".into()));
    }

    #[test]
    fn infinity_is_refused() {
        assert_eq!(sum("inf", "1"), Sum::Infinite);
    }
}
