//! The 80-bit numbers with which servers on x86 compute `INCRBYFLOAT`.
//!
//! The server adds two `long double`s, whose mantissas have 64 bits, and prints 17 decimals. The same is done
//! here with integers, for numbers below 10^18 that have no more than 17 decimals. Others are not known to
//! the last digit.

/// A number as `strtold` reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extended {
    /// A mantissa of at most 64 bits, with so many binary places.
    Exact { mantissa: i128, places: u32 },
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
/// How many of the smallest units of a decimal make 1.
const ONE: u128 = 10_u128.pow(DECIMALS as u32);
/// Larger powers of ten do not fit into 80 bits.
const MAX_EXPONENT: i32 = 4_932;
const MANTISSA_BITS: u32 = 64;
/// With more places the digits cannot be computed in 128 bits.
const MAX_PLACES: u32 = 121;

impl Extended {
    /// Reads a number that is the whole text and not NaN.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let rough = super::number::parse_c_float(std::str::from_utf8(bytes).ok()?)?;
        let exponent = exponent(bytes).unwrap_or(0);
        let beyond = rough.is_infinite() && exponent > MAX_EXPONENT
            || rough == 0.0 && exponent < -MAX_EXPONENT;
        if rough.is_nan() || beyond {
            return None;
        }
        let units = units(bytes);
        let exact = units.map(|(negative, units)| {
            let (mantissa, places) = to_binary(units);
            Self::Exact {
                mantissa: if negative { -mantissa } else { mantissa },
                places,
            }
        });
        let whole = rough == rough.trunc() && rough.abs() < 2.0_f64.powi(53);
        let whole = whole.then_some(Self::Exact {
            mantissa: rough as i128,
            places: 0,
        });
        Some(exact.or(whole).unwrap_or(Self::Rough(rough)))
    }

    pub(crate) fn is_infinite(self) -> bool {
        matches!(self, Self::Rough(number) if number.is_infinite())
    }

    fn rough(self) -> f64 {
        match self {
            Self::Exact { mantissa, places } => mantissa as f64 / 2.0_f64.powi(places as i32),
            Self::Rough(number) => number,
        }
    }

    /// The sum of two numbers.
    pub(crate) fn add(self, other: Self) -> Sum {
        if let Some((mantissa, places)) = exact_sum(self, other) {
            return Sum::Number(decimal(mantissa, places));
        }
        let sum = self.rough() + other.rough();
        if !sum.is_finite() {
            return Sum::Infinite;
        }
        Sum::Unknown(trim(format!("{sum:.DECIMALS$}")))
    }
}

fn exact_sum(a: Extended, b: Extended) -> Option<(i128, u32)> {
    let (
        Extended::Exact {
            mantissa: a,
            places: a_places,
        },
        Extended::Exact {
            mantissa: b,
            places: b_places,
        },
    ) = (a, b)
    else {
        return None;
    };
    // As many places as fit; 126 bits are more than enough to round to 64.
    let room =
        |mantissa: i128, places: u32| places + mantissa.unsigned_abs().leading_zeros().min(127) - 2;
    let places = a_places
        .max(b_places)
        .min(room(a, a_places))
        .min(room(b, b_places));
    let sum = align(a, a_places, places) + align(b, b_places, places);
    let excess = (128 - sum.unsigned_abs().leading_zeros()).saturating_sub(MANTISSA_BITS);
    let (whole, rest) = (
        sum.unsigned_abs() >> excess,
        sum.unsigned_abs() & ((1 << excess) - 1),
    );
    let magnitude = round(whole, rest, 1 << excess) as i128;
    let rounded = if sum < 0 { -magnitude } else { magnitude };
    // A number too large for its last places has zeros there.
    match places.checked_sub(excess) {
        Some(places) => Some((rounded, places)),
        None => Some((rounded << (excess - places), 0)),
    }
}

/// The mantissa for another number of places; what is lost is remembered in the last bit.
fn align(mantissa: i128, from: u32, to: u32) -> i128 {
    if from <= to {
        return mantissa << (to - from);
    }
    let lost = mantissa & ((1 << (from - to)) - 1);
    mantissa >> (from - to) | i128::from(lost != 0)
}

/// Rounds `whole + rest / one` to an integer, ties to even.
fn round(whole: u128, rest: u128, one: u128) -> u128 {
    match (rest * 2).cmp(&one) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Equal => whole + (whole & 1),
        std::cmp::Ordering::Greater => whole + 1,
    }
}

/// The nearest number with a mantissa of 64 bits.
fn to_binary(units: u128) -> (i128, u32) {
    let (mut mantissa, mut rest) = (units / ONE, units % ONE);
    let mut places = 0;
    while rest != 0 && mantissa < 1 << (MANTISSA_BITS - 1) && places < MAX_PLACES {
        rest *= 2;
        mantissa = mantissa * 2 + rest / ONE;
        rest %= ONE;
        places += 1;
    }
    (round(mantissa, rest, ONE) as i128, places)
}

/// Sign and units of 10^-17 of a plain decimal, if it has no finer ones and is below 10^18.
fn units(bytes: &[u8]) -> Option<(bool, u128)> {
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
    let mut units: u128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = u128::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
        units = units.checked_mul(10)?.checked_add(digit)?;
    }
    let shift = DECIMALS as i32 + exponent - i32::try_from(fraction.len()).ok()?;
    let scale = 10_u128.checked_pow(shift.unsigned_abs())?;
    let units = match shift {
        0.. => units.checked_mul(scale)?,
        _ if units.is_multiple_of(scale) => units / scale,
        _ => return None,
    };
    Some((negative, units)).filter(|(_, units)| *units < 19 * 10_u128.pow(35))
}

/// The decimal exponent, if one is written.
fn exponent(bytes: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.rsplit_once(['e', 'E'])?.1.parse().ok()
}

/// 17 decimals without zeros at the end.
fn decimal(mantissa: i128, places: u32) -> String {
    let one = 1_u128 << places;
    let magnitude = mantissa.unsigned_abs();
    let (whole, mut rest) = (magnitude >> places, magnitude & (one - 1));
    let mut fraction: u128 = 0;
    for _ in 0..DECIMALS {
        rest *= 10;
        fraction = fraction * 10 + (rest >> places);
        rest &= one - 1;
    }
    let fraction = round(fraction, rest, one);
    let (whole, fraction) = (whole + fraction / ONE, fraction % ONE);
    let sign = if mantissa < 0 { "-" } else { "" };
    let text = trim(format!("{sign}{whole}.{fraction:0DECIMALS$}"));
    if text == "-0" { "0".into() } else { text }
}

fn trim(text: String) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Extended, Sum};

    fn sum(a: &str, b: &str) -> Sum {
        let parse = |text: &str| Extended::parse(text.as_bytes()).expect("a number");
        parse(a).add(parse(b))
    }

    #[test]
    fn sums_are_those_of_80_bits() {
        for (a, b, expected) in [
            ("0.1", "0.2", "0.3"),
            ("10.5", "-10.5", "0"),
            ("5.0e3", "200", "5200"),
            ("9223372036854775807", "-2.25", "9223372036854775805"),
            ("3", "1.1", "4.1"),
            ("9223372036854775807", "0.1", "9223372036854775807"),
            ("-9223372036854775807", "0.75", "-9223372036854775806"),
            ("1e17", "-0.1", "99999999999999999.8984375"),
        ] {
            assert_eq!(sum(a, b), Sum::Number(expected.into()), "{a} + {b}");
        }
    }

    #[test]
    fn infinity_is_refused() {
        assert_eq!(sum("inf", "1"), Sum::Infinite);
    }

    #[test]
    fn what_80_bits_cannot_hold_is_no_number() {
        assert!(Extended::parse(b"1e4933").is_none());
        assert!(Extended::parse(b"1e400").is_some());
    }
}
