//! Decimal text to `f64`, exactly as `str::parse` would do it, faster.

use crate::DataErrorKind;
use crate::error::{Bad, not_a_number, shown};

/// Powers of ten that are exact in an `f64`.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The number at the start of `bytes` and its length, if it is of the common kind: at most 19
/// digits, and exact after one multiplication or division.
///
/// NUMERICS: a mantissa of at most 2^53 and a power of ten of at most 10^22 are both exact, so the one
/// operation between them rounds once, as `str::parse` does (Clinger 1990). Everything else is left
/// to the caller.
#[inline]
pub(crate) fn leading(bytes: &[u8]) -> Option<(f64, usize)> {
    // PERF: without a branch, because the sign of a number cannot be guessed. A plus is rare.
    let negative = bytes.first() == Some(&b'-');
    let mut at = usize::from(negative) + usize::from(bytes.first() == Some(&b'+'));
    // PERF: one digit, a point and up to seven digits are most numbers that are not integers.
    if let [d @ b'0'..=b'9', b'.', fraction @ ..] = &bytes[at..]
        && let Some(&word) = fraction.first_chunk::<8>()
        && let (value, count @ 1..8) = leading_digits(word)
    {
        let m = (u64::from(*d - b'0') * POWERS[count] + value) as f64;
        let end = at + 2 + count;
        if word[count] | 0x20 != b'e' {
            return Some((signed(m / EXACT[count], negative), end));
        }
        let (exponent, end) = leading_exponent(bytes, end + 1)?;
        return scaled(m, exponent - count as i64, negative).map(|v| (v, end));
    }
    let start = at;
    let mut mantissa = 0_u64;
    at = digits(bytes, at, &mut mantissa);
    let mut count = at - start;
    let mut exponent = 0_i64;
    if bytes.get(at) == Some(&b'.') {
        let dot = at + 1;
        at = digits(bytes, dot, &mut mantissa);
        exponent = -((at - dot) as i64);
        count += at - dot;
    }
    if count == 0 || count > 19 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let (more, end) = leading_exponent(bytes, at + 1)?;
        exponent += more;
        at = end;
    }
    if mantissa > 1 << 53 {
        return None;
    }
    scaled(mantissa as f64, exponent, negative).map(|v| (v, at))
}

/// A number of the usual kind at a place of a text: an integer, the power of ten to divide it by, and where the number ends. The usual
/// kind has up to seven digits before the point, up to seven behind it, and no exponent.
///
/// PERF: the caller divides several numbers at once, and knows where the next one begins before they are divided.
///
/// NUMERICS: both parts are exact, as in [`leading`], so the division rounds once.
#[inline(always)]
pub(crate) fn usual(text: &[u8], start: usize) -> Option<(f64, f64, usize)> {
    let negative = text.get(start) == Some(&b'-');
    let at = start + usize::from(negative);
    let word = *text.get(at..)?.first_chunk::<8>()?;
    let (whole, count @ 1..8) = leading_digits(word) else { return None };
    let (m, digits, end, next) = if word[count] == b'.' {
        let point = at + count;
        let word = *text.get(point + 1..)?.first_chunk::<8>()?;
        let (fraction, digits @ 1..8) = leading_digits(word) else { return None };
        (whole * POWERS[digits] + fraction, digits, point + 1 + digits, word[digits])
    } else {
        (whole, 0, at + count, word[count])
    };
    let has_exponent = next | 0x20 == b'e';
    (!has_exponent).then(|| (signed(m as i64 as f64, negative), EXACT[digits], end))
}

/// `m * 10^exponent` for an exact `m`, where that takes one exact power.
#[inline]
fn scaled(m: f64, exponent: i64, negative: bool) -> Option<f64> {
    let power = *EXACT.get(exponent.unsigned_abs() as usize)?;
    let v = if exponent < 0 { m / power } else { m * power };
    Some(signed(v, negative))
}

/// A number without a sign, given one.
#[inline]
fn signed(v: f64, negative: bool) -> f64 {
    f64::from_bits(v.to_bits() | u64::from(negative) << 63)
}

/// Reads digits into `mantissa`; more than 19 of them overflow it, which the caller sees by count.
#[inline]
fn digits(bytes: &[u8], mut at: usize, mantissa: &mut u64) -> usize {
    let mut m = *mantissa;
    while let Some(&word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let (value, count) = leading_digits(word);
        m = m.wrapping_mul(POWERS[count]).wrapping_add(value);
        at += count;
        if count < 8 {
            *mantissa = m;
            return at;
        }
    }
    while let Some(&b) = bytes.get(at) {
        let d = b.wrapping_sub(b'0');
        if d > 9 {
            break;
        }
        m = m.wrapping_mul(10).wrapping_add(u64::from(d));
        at += 1;
    }
    *mantissa = m;
    at
}

const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// A byte in each of eight.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Where, by the high bit of its byte, digits with `0x30` taken off are none. Carries only go up, so the lowest byte that is
/// none is found whatever follows it.
#[inline]
fn others(t: u64) -> u64 {
    // Digits have become 0 to 9; adding 118 to anything above carries into a byte's high bit.
    (t.wrapping_add(0x76 * EACH) | t) & (0x80 * EACH)
}

/// The number that eight digits spell, `0x30` taken off each.
#[inline]
fn eight_digits(v: u64) -> u64 {
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    let pairs = 0x0000_00ff_0000_00ff;
    let low = (v & pairs).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((v >> 16) & pairs).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// The number that the digits at the start of eight bytes spell, and how many they are.
///
/// PERF: all eight at once. A loop over digits ends after an unpredictable number of steps, and each
/// wrong guess costs as much as parsing the number.
#[inline]
pub(crate) fn leading_digits(word: [u8; 8]) -> (u64, usize) {
    let t = u64::from_le_bytes(word) ^ (0x30 * EACH);
    let count = (others(t).trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // The digits move to the end; zeros in front of a number do not change it.
    (eight_digits(t << (64 - 8 * count)), count)
}

/// Keeps the last `count` of eight bytes.
const LAST: [u64; 9] = {
    let mut masks = [0; 9];
    let mut k = 1;
    while k < 9 {
        masks[k] = u64::MAX << (64 - 8 * k);
        k += 1;
    }
    masks
};

/// The number between two places of a text, if it is one digit, or one digit, a point and up to eight more.
///
/// PERF: most numbers, read without a loop: the last eight bytes are there for any number's length.
#[inline(always)]
pub(crate) fn short(text: &[u8], start: usize, end: usize) -> Option<f64> {
    short_parts(text, start, end).map(|(m, digits)| m / EXACT[digits])
}

/// The number as an integer and the number of digits behind the point.
#[inline(always)]
fn short_parts(text: &[u8], start: usize, end: usize) -> Option<(f64, usize)> {
    let word = *text.get(end.checked_sub(8)?..end)?.first_chunk()?;
    let (first, len) = (text.get(start)?.wrapping_sub(b'0'), end.checked_sub(start)?);
    let digits = len.saturating_sub(2);
    let t = (u64::from_le_bytes(word) ^ (0x30 * EACH)) & LAST.get(digits)?;
    let has_point = (len == 1) | (text.get(start + 1) == Some(&b'.'));
    let is_short = (first <= 9) & has_point & (others(t) == 0) & (len > 0);
    is_short.then(|| {
        // PERF: signed integers convert in one instruction.
        let m = u64::from(first) * POWERS[digits] + eight_digits(t);
        (m as i64 as f64, digits)
    })
}

/// The number between two places of a text, if it is of a common kind: short, with or without a minus and an exponent of two digits.
#[inline(always)]
pub(crate) fn common(text: &[u8], start: usize, end: usize) -> Option<f64> {
    let negative = text.get(start) == Some(&b'-');
    let start = start + usize::from(negative);
    let tail = text.get(end.checked_sub(4)?..end)?;
    let value = match *tail {
        [b'e' | b'E', sign @ (b'-' | b'+'), tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
            let (m, power) = short_parts(text, start, end - 4)?;
            let exponent = i64::from(10 * (tens - b'0') + (ones - b'0'));
            let exponent = if sign == b'-' { -exponent } else { exponent };
            scaled(m, exponent - power as i64, false)?
        }
        _ => short(text, start, end)?,
    };
    Some(signed(value, negative))
}

/// The number that up to eight digits between two places of a text spell.
#[inline(always)]
pub(crate) fn natural(text: &[u8], start: usize, end: usize) -> Option<u32> {
    let word = *text.get(end.checked_sub(8)?..end)?.first_chunk()?;
    let t = (u64::from_le_bytes(word) ^ (0x30 * EACH)) & LAST.get(end - start)?;
    ((end > start) & (others(t) == 0)).then(|| eight_digits(t) as u32)
}

#[inline]
fn leading_exponent(bytes: &[u8], mut at: usize) -> Option<(i64, usize)> {
    let negative = match bytes.get(at) {
        Some(b'-') => {
            at += 1;
            true
        }
        Some(b'+') => {
            at += 1;
            false
        }
        _ => false,
    };
    let start = at;
    let mut e = 0_u64;
    // Four digits cannot overflow; longer exponents are rare enough for the slow path.
    while let Some(d @ b'0'..=b'9') = bytes.get(at) {
        e = e.wrapping_mul(10).wrapping_add(u64::from(d - b'0'));
        at += 1;
    }
    (1..=4).contains(&(at - start)).then_some((if negative { -(e as i64) } else { e as i64 }, at))
}

/// The whole of `token` as a finite number.
///
/// The spellings are those of `str::parse::<f64>`, without the ones that are not finite.
pub(crate) fn whole(token: &[u8]) -> Option<f64> {
    match leading(token) {
        Some((v, len)) if len == token.len() => Some(v),
        _ => {
            let v = std::str::from_utf8(token).ok()?.parse::<f64>().ok()?;
            v.is_finite().then_some(v)
        }
    }
}

/// The whole of `token` as a number of magnitude at most `max`, or words about it.
pub(crate) fn bounded(token: &[u8], column: usize, max: f64) -> Result<f64, Bad> {
    match whole(token) {
        Some(v) if v.abs() <= max => Ok(v),
        Some(_) => Err(too_large(token, column, max)),
        None => Err(Bad::new(DataErrorKind::Number, column, not_a_number(token)).found(token)),
    }
}

#[cold]
pub(crate) fn too_large(token: &[u8], column: usize, max: f64) -> Bad {
    let words = format!("{} is beyond the largest magnitude, {max:e}", shown(token));
    Bad::new(DataErrorKind::Number, column, words).found(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(text: &str) {
        let expected = text.parse::<f64>().ok().filter(|v| v.is_finite());
        let got = whole(text.as_bytes());
        assert_eq!(got.map(f64::to_bits), expected.map(f64::to_bits), "{text:?}");
    }

    proptest! {
        #[test]
        fn a_short_number_is_what_it_says(before in "[0-9.]{0,9}", text in "[0-9]?[.]?[0-9]{0,9}|[0-9.e-]{0,5}|-?[0-9][.]?[0-9]{0,9}[eE][+-][0-9]{2}") {
            let both = format!("{before}{text}");
            let found = short(both.as_bytes(), before.len(), both.len());
            if let Some(found) = found {
                prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(found.to_bits()));
            } else {
                let is_short = text.len() <= 10 && both.len() >= 8 && text.parse::<f64>().is_ok();
                let shape = text.len() == 1 || text.as_bytes().get(1) == Some(&b'.');
                let plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.')) && text.as_bytes().first() != Some(&b'.');
                prop_assert!(!(is_short && shape && plain), "{}", text);
            }
            if let Some(found) = common(both.as_bytes(), before.len(), both.len()) {
                prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(found.to_bits()));
            }
            for after in ["", ",", "e5", "        "] {
                let text = format!("{text}{after}");
                if let Some((m, power, end)) = usual(text.as_bytes(), 0) {
                    let (value, len) = leading(text.as_bytes()).expect("what is usual is common");
                    prop_assert_eq!(((m / power).to_bits(), end), (value.to_bits(), len), "{}", text);
                }
            }
            if let Some(found) = natural(both.as_bytes(), before.len(), both.len()) {
                prop_assert_eq!(text.parse::<u32>(), Ok(found));
            }
        }
    }

    #[test]
    fn usual_numbers_end_where_they_should() {
        let usual = |text: &str| usual(text.as_bytes(), 0).map(|(m, power, end)| (m / power, end));
        for (text, value, end) in [
            ("0.1234,5.678", 0.1234, 6),
            ("-12.5\n1234567", -12.5, 5),
            ("1234567,1234567", 1_234_567.0, 7),
            ("-0,1234567", -0.0, 2),
            ("1.25.5,12345", 1.25, 4),
        ] {
            let found = usual(text).map(|(v, end)| (v.to_bits(), end));
            assert_eq!(found, Some((f64::to_bits(value), end)), "{text}");
        }
        let others = [
            "12345678,1234",
            "1.12345678,12",
            "1e5,1234567",
            "1.5E5,1234567",
            "+1,1234567",
            ".5,1234567",
            "1.,12345678",
            "-,12345678",
            "1.5",
            "",
        ];
        others.iter().for_each(|text| assert_eq!(usual(text), None, "{text}"));
    }

    #[test]
    fn every_spelling_is_judged_as_the_standard_library_does() {
        for text in [
            "",
            "+",
            "-",
            ".",
            "-.",
            "1.",
            ".5",
            "+.5e1",
            "1e",
            "1e+",
            "e5",
            "1e5",
            "1E-5",
            "-0",
            "-0.0",
            "00012",
            "9007199254740992",
            "9007199254740993",
            "1e22",
            "1e23",
            "1e-22",
            "1e-23",
            "4.9e-324",
            "1.7976931348623157e308",
            "1e309",
            "nan",
            "inf",
            "-infinity",
            "1_000",
            "0x10",
            " 1",
            "1 ",
            "18446744073709551615",
            "18446744073709551616",
            "0.00000000000000000000000000000001",
            "1e00000000000000000001",
            "1e99999999999999999999",
            "0e99999",
            "6.2699720e-02",
            "123456789012345678901234567890",
            "1e0001",
            "1e-9999",
        ] {
            same(text);
        }
    }

    #[test]
    fn a_number_beyond_the_largest_is_refused_by_name() {
        assert_eq!(
            bounded(b"-1e13", 5, 1e12).unwrap_err().message.to_string(),
            "\"-1e13\" is beyond the largest magnitude, 1e12"
        );
        assert_eq!(bounded(b"1e12", 5, 1e12), Ok(1e12));
    }

    #[test]
    fn eight_bytes_are_read_at_once() {
        for (word, expected) in [
            (b"12345678", (12_345_678, 8)),
            (b"1:345678", (1, 1)),
            (b"00123 \xff\xff", (123, 5)),
            (b":2345678", (0, 0)),
            (b"/0000000", (0, 0)),
            (b"99999999", (99_999_999, 8)),
            (b"1234567\x80", (1_234_567, 7)),
        ] {
            assert_eq!(leading_digits(*word), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn decimals_equal_the_standard_library(
            text in "[+-]?[0-9]{0,21}(\\.[0-9]{0,21})?([eE][+-]?[0-9]{0,5})?"
        ) {
            same(&text);
        }

        #[test]
        fn shortest_spellings_round_trip(bits in any::<u64>()) {
            let v = f64::from_bits(bits);
            prop_assume!(v.is_finite());
            prop_assert_eq!(whole(v.to_string().as_bytes()).map(f64::to_bits), Some(bits));
            prop_assert_eq!(whole(format!("{v:e}").as_bytes()).map(f64::to_bits), Some(bits));
        }

        #[test]
        fn eight_bytes_equal_one_by_one(word in any::<[u8; 8]>(), digits in "[0-9]{0,8}") {
            let mut word = word;
            word[..digits.len()].copy_from_slice(digits.as_bytes());
            let count = word.iter().take_while(|b| b.is_ascii_digit()).count();
            let text = std::str::from_utf8(&word[..count]).unwrap();
            prop_assert_eq!(leading_digits(word), (text.parse().unwrap_or(0), count));
        }

        #[test]
        fn any_bytes_are_judged_alike(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            if let Ok(text) = std::str::from_utf8(&bytes) {
                same(text);
            } else {
                prop_assert_eq!(whole(&bytes), None);
            }
        }
    }
}
