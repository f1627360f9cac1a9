//! Numbers as Redis reads and writes them.

use super::Bytes;

/// An integer in canonical decimal form, nothing else: no sign `+`, no leading zero, no blanks.
pub(crate) fn parse_integer(bytes: &[u8]) -> Option<i64> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [] => return None,
        [b'0', ..] if digits.len() > 1 || negative => return None,
        _ if digits.len() > 19 => return None,
        _ => {}
    }
    let mut value: i64 = 0;
    for &digit in digits {
        let digit = i64::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
        let shifted = value.checked_mul(10)?;
        value = if negative {
            shifted.checked_sub(digit)?
        } else {
            shifted.checked_add(digit)?
        };
    }
    Some(value)
}

/// A floating-point number as `strtod` reads it, if it is the whole text, in range and not NaN.
pub(crate) fn parse_float(bytes: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let number = parse_c_float(text)?;
    let named = text.trim_start_matches(['+', '-']).starts_with(['i', 'I']);
    let has_digit = text
        .split(['e', 'E'])
        .next()?
        .bytes()
        .any(|byte| matches!(byte, b'1'..=b'9'));
    let overflow = number.is_infinite() && !named;
    let underflow = number == 0.0 && has_digit && !text.contains(['x', 'X']);
    Some(number).filter(|number| !number.is_nan() && !overflow && !underflow)
}

/// A number in any form that C reads, infinities and NaN included.
pub(crate) fn parse_c_float(text: &str) -> Option<f64> {
    parse_hex_float(text).or_else(|| text.parse().ok())
}

/// Hexadecimal digits with an optional fraction and a binary exponent.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest
        .strip_prefix("0x")
        .or_else(|| rest.strip_prefix("0X"))?;
    let (digits, exponent) = match rest.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let scale = exponent - 4 * i32::try_from(fraction.len()).ok()?;
    Some(sign * value * 2.0_f64.powi(scale))
}

/// `%.17g`, as C prints it.
pub(crate) fn format_17g(number: f64) -> String {
    format_g(number, 17)
}

/// `%.<precision>g`, as C prints it.
pub(crate) fn format_g(number: f64, precision: usize) -> String {
    if let Some(text) = not_finite(number) {
        return text.into();
    }
    let scientific = format!("{number:.*e}", precision.max(1) - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs());
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim_zeros(&format!("{number:.decimals$}")).into()
}

/// A floating-point number as servers since Redis 7.2 print it: integers as such, the rest by the fewest
/// digits.
pub(crate) fn shortest(number: f64) -> Bytes {
    const LIMIT: f64 = 4_611_686_018_427_387_904.0;
    if number == number.trunc() && number.abs() <= LIMIT {
        return Bytes::decimal(number as i64);
    }
    format_shortest(number).into()
}

/// Few digits that read back as the same number, laid out as those servers do.
fn format_shortest(number: f64) -> String {
    if let Some(text) = not_finite(number) {
        return text.into();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number == 0.0 {
        return format!("{sign}0");
    }
    let (digits, last) = super::grisu::digits(number.abs());
    let count = digits.len() as i32;
    let digits: String = digits
        .into_iter()
        .map(|digit| char::from(b'0' + digit))
        .collect();
    // The power of ten of the first digit.
    let first = last + count - 1;
    if last >= 0 && first.abs() < count + 7 {
        return format!("{sign}{digits}{}", "0".repeat(last as usize));
    }
    if last < 0 && (last > -7 || first.abs() < 4) {
        let point = count + last;
        return if point <= 0 {
            format!("{sign}0.{}{digits}", "0".repeat(-point as usize))
        } else {
            let (whole, fraction) = digits.split_at(point as usize);
            format!("{sign}{whole}.{fraction}")
        };
    }
    let (head, tail) = digits.split_at(1);
    let point = if tail.is_empty() { "" } else { "." };
    let exponent_sign = if first < 0 { '-' } else { '+' };
    format!("{sign}{head}{point}{tail}e{exponent_sign}{}", first.abs())
}

fn not_finite(number: f64) -> Option<&'static str> {
    match number {
        n if n.is_nan() && n.is_sign_negative() => Some("-nan"),
        n if n.is_nan() => Some("nan"),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{format_17g, format_shortest, parse_integer};

    #[test]
    fn integers_are_read_strictly() {
        assert_eq!(parse_integer(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(parse_integer(b"9223372036854775807"), Some(i64::MAX));
        for wrong in [
            "",
            "-",
            "+1",
            "01",
            "-0",
            " 1",
            "1 ",
            "9223372036854775808",
            "1e3",
            "0x10",
        ] {
            assert_eq!(parse_integer(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn seventeen_digits_as_in_c() {
        assert_eq!(format_17g(0.1), "0.10000000000000001");
        assert_eq!(format_17g(1e17), "1e+17");
        assert_eq!(format_17g(1e-7), "9.9999999999999995e-08");
        assert_eq!(
            format_17g(123_456_789_012_345_678.0),
            "1.2345678901234568e+17"
        );
        assert_eq!(format_17g(-0.0), "-0");
    }

    #[test]
    fn shortest_digits() {
        assert_eq!(format_shortest(0.1), "0.1");
        assert_eq!(format_shortest(1e-7), "1e-7");
        assert_eq!(format_shortest(1e20), "1e+20");
        assert_eq!(format_shortest(1.5), "1.5");
    }
}
