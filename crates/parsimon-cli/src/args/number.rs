//! Whole numbers in the forms `1000000`, `1e6` and `1_000_000`.

/// The value of a flag that is a whole number.
pub(crate) fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let digits = ungrouped(text).ok_or_else(|| {
        let hint = "a whole number, such as 1000000, 1e6 or 1_000_000";
        format!("it must be {hint}")
    })?;
    let value = exact(&digits).ok_or("it must be a whole number, not a fraction")?;
    let value = value.and_then(|value| T::try_from(value).ok());
    value.ok_or_else(|| "it is too large".to_owned())
}

/// Parses a number that must be at least 1.
pub(crate) fn positive<T: TryFrom<u64> + PartialEq + Default>(text: &str) -> Result<T, String> {
    match whole::<T>(text)? {
        zero if zero == T::default() => Err("it must be 1 or more".to_owned()),
        value => Ok(value),
    }
}

/// A number with a fraction.
pub(crate) fn real(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
    number.ok_or_else(|| "it must be a number such as 0.5".to_owned())
}

/// A share: above 0, at most 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let share = text.trim().parse().ok().filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "it must be a number > 0 and <= 1".to_owned())
}

/// The value of `--progress`: a number of rows may have an exponent; a factor has a decimal point.
#[expect(clippy::unnecessary_wraps, reason = "the shape of a parser of values")]
pub(crate) fn progress(text: &str) -> Result<String, String> {
    let is_grouped = text.contains(['e', 'E', '_']);
    Ok(match whole::<u64>(text) {
        Ok(rows) if is_grouped => rows.to_string(),
        _ => text.to_owned(),
    })
}

/// The text without underscores between digits, if it is a number at all.
fn ungrouped(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let is_good = |(i, b): (usize, &u8)| match b {
        b'_' => i > 0 && is_digit(i - 1) && is_digit(i + 1),
        b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' => true,
        _ => false,
    };
    let plain = text.replace('_', "");
    let is_number = bytes.iter().enumerate().all(is_good) && plain.parse::<f64>().is_ok();
    (is_number && !text.starts_with('-')).then_some(plain)
}

/// The value of a decimal number, exactly: `None` if it is a fraction, `Some(None)` if it is beyond 64 bits.
#[expect(clippy::option_option, reason = "two ways not to be a u64")]
fn exact(text: &str) -> Option<Option<u64>> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('+'));
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(Some(0));
    }
    // Powers of ten behind the last digit that is not zero.
    let zeros = (digits.len() - significant.len()) as i64 - fraction.len() as i64;
    // An exponent beyond 64 bits is as good as the largest.
    let sign = if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 };
    let power = exponent.parse::<i64>().unwrap_or(sign).saturating_add(zeros);
    if power < 0 {
        return None;
    }
    let scale = u32::try_from(power).ok().and_then(|power| 10_u64.checked_pow(power));
    let value = significant.parse::<u64>().ok();
    Some(value.zip(scale).and_then(|(value, scale)| value.checked_mul(scale)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_many_spellings() {
        for (text, value) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1E+6", 1_000_000),
            ("2.5e3", 2500),
            ("1.50e1", 15),
            ("100e-2", 1),
            ("12.0", 12),
            ("0e999999999999999999999", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(whole(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, word) in [
            ("1.5", "fraction"),
            ("1e-3", "fraction"),
            ("1e-99999999999999999999", "fraction"),
            ("1,000", "such as 1000000, 1e6 or 1_000_000"),
            ("_1", "such as"),
            ("1__0", "such as"),
            ("1_", "such as"),
            ("-3", "such as"),
            ("", "such as"),
            ("e6", "such as"),
            ("inf", "such as"),
            ("18446744073709551616", "too large"),
            ("1e20", "too large"),
            ("1e99999999999999999999", "too large"),
        ] {
            let error = whole::<u64>(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        assert_eq!(whole::<u8>("256").unwrap_err(), "it is too large");
        assert_eq!(positive::<u32>("0").unwrap_err(), "it must be 1 or more");
    }

    #[test]
    fn a_factor_stays_a_factor() {
        let read = |text| progress(text).unwrap();
        assert_eq!(
            [read("2.0"), read("1e6"), read("10_000"), read("x")],
            ["2.0", "1000000", "10000", "x"]
        );
    }
}
