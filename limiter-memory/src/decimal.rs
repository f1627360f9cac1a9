//! The decimal text of a number, without going through memory.
//!
//! Digits that are written one by one are read back at once as one word, to be hashed and compared, and
//! a processor waits for that. So they are made in registers, eight at a time.

/// The most digits that [`packed`] makes.
const MOST: u32 = 16;

/// The text of a number, first digit in the lowest byte, and how many bytes it has; `None` for more
/// than 16 digits.
#[inline]
pub(crate) fn packed(number: u64) -> Option<(u128, u32)> {
    const HALF: u64 = 100_000_000;
    if number < HALF {
        let digits = eight_digits(number as u32);
        // 0 has one digit.
        let leading_zeros = (digits.trailing_zeros() / 8).min(MOST / 2 - 1);
        let text = (digits | u64::from_le_bytes([b'0'; 8])) >> (8 * leading_zeros);
        return Some((text.into(), MOST / 2 - leading_zeros));
    }
    let high = u32::try_from(number / HALF).ok()?;
    if u64::from(high) >= HALF {
        return None;
    }
    let low = (number % HALF) as u32;
    let digits = u128::from(eight_digits(high)) | u128::from(eight_digits(low)) << 64;
    let leading_zeros = digits.trailing_zeros() / 8;
    let text = (digits | u128::from_le_bytes([b'0'; 16])) >> (8 * leading_zeros);
    Some((text, MOST - leading_zeros))
}

/// The eight digits of a number below 10^8 as bytes 0 to 9, the first in the lowest: halves are parted
/// side by side, until each lane has one digit. Division is by a multiplication that is exact for as
/// many digits as a lane has.
#[inline]
fn eight_digits(number: u32) -> u64 {
    let number = u64::from(number);
    // Two lanes of four digits.
    let four = (number / 10_000) | ((number % 10_000) << 32);
    // Four lanes of two: x / 100 is x * 10486 >> 20 below 10,000.
    let high = ((four * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let two = high | ((four - 100 * high) << 16);
    // Eight lanes of one: x / 10 is x * 103 >> 10 below 100.
    let high = ((two * 103) >> 10) & 0x000f_000f_000f_000f;
    high | ((two - 10 * high) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_text(number: u64) {
        let text = number.to_string();
        match packed(number) {
            Some((packed, length)) => {
                assert_eq!(&packed.to_le_bytes()[..length as usize], text.as_bytes());
                let rest = packed.checked_shr(8 * length).unwrap_or(0);
                assert_eq!(rest, 0, "{number}");
            }
            None => assert!(text.len() > 16, "{number}"),
        }
    }

    #[test]
    fn every_number_below_a_hundred_thousand_is_its_text() {
        (0..100_000).for_each(is_text);
    }

    #[test]
    fn numbers_about_every_power_of_ten_are_their_text() {
        for power in 0..20 {
            let power = 10_u64.pow(power);
            for number in [power - 1, power, power + 1, power / 10 * 18, power + 90_807] {
                is_text(number);
            }
        }
        is_text(u64::MAX);
    }

    #[test]
    fn every_group_of_four_digits_is_right_wherever_it_stands() {
        for group in 0..10_000 {
            for place in [1, 10_000, 100_000_000, 1_000_000_000_000] {
                is_text(group * place);
                is_text(group * place + 9_999 * (1_000_000_000_000_000 / place.max(10_000)));
            }
        }
    }
}
