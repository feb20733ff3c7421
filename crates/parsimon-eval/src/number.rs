//! Numbers as people read them. Every table, report and chart formats through here, so that the same
//! quantity looks the same everywhere.

use std::time::Duration;

/// `digits` significant digits, trailing zeros kept so that columns align; scientific when the number is
/// below 10^-5 or needs more than seven digits before the point.
///
/// ```
/// use parsimon_eval::number::significant;
///
/// assert_eq!(significant(0.123_456, 4), "0.1235");
/// assert_eq!(significant(9.999_96, 4), "10.00");
/// assert_eq!(significant(1234.5, 3), "1234"); // digits before the point are never zeroed away
/// assert_eq!(significant(1.2e-7, 3), "1.20e-7");
/// assert_eq!(significant(0.0, 4), "0");
/// ```
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    let digits = digits.max(1);
    let scientific = format!("{:.*e}", digits - 1, x);
    // The exponent after rounding: 9.99996 with four digits is 1.000e1.
    let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    if (-5..7).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        format!("{x:.decimals$}")
    } else {
        scientific
    }
}

/// An optional metric: `significant`, or a dash where it is undefined.
///
/// ```
/// # use parsimon_eval::number::maybe;
/// assert_eq!((maybe(Some(0.75), 4), maybe(None, 4)), ("0.7500".into(), "-".into()));
/// ```
pub fn maybe(x: Option<f64>, digits: usize) -> String {
    x.map_or_else(|| "-".to_owned(), |x| significant(x, digits))
}

/// A count with separators.
///
/// ```
/// # use parsimon_eval::number::thousands;
/// assert_eq!(thousands(1_234_567), "1,234,567");
/// assert_eq!(thousands(999), "999");
/// ```
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A sum of importance weights: a count when it is one, four decimals at most otherwise.
///
/// ```
/// # use parsimon_eval::number::weight;
/// assert_eq!(weight(12_000.0), "12,000");
/// assert_eq!(weight(12_000.25), "12,000.25");
/// ```
pub fn weight(w: f64) -> String {
    if !(0.0..1e15).contains(&w) {
        return significant(w, 6);
    }
    let fixed = format!("{w:.4}");
    let (whole, fraction) = fixed.split_once('.').unwrap_or((&fixed, ""));
    let fraction = fraction.trim_end_matches('0');
    let whole = thousands(whole.parse().unwrap_or(0));
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// A share of the whole, in percent.
///
/// ```
/// # use parsimon_eval::number::percent;
/// assert_eq!(percent(0.1234), "12.3 %");
/// assert_eq!(percent(0.000_123), "0.0123 %");
/// ```
pub fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share, 3))
}

/// A size in memory or on disk.
///
/// ```
/// # use parsimon_eval::number::bytes;
/// assert_eq!(bytes(900), "900 B");
/// assert_eq!(bytes(1536), "1.50 KiB");
/// assert_eq!(bytes(3 << 30), "3.00 GiB");
/// ```
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut size = n as f64 / 1024.0;
    let mut unit = 0;
    // 1023.996 would be rounded to "1024" of the smaller unit.
    while size >= 1023.995 {
        size /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(size, 3), UNITS[unit])
}

/// A time that passed.
///
/// ```
/// use std::time::Duration;
/// use parsimon_eval::number::duration;
///
/// assert_eq!(duration(Duration::from_micros(1500)), "1.50 ms");
/// assert_eq!(duration(Duration::from_millis(12_340)), "12.3 s");
/// assert_eq!(duration(Duration::from_secs(3 * 60 + 7)), "3 min 07 s");
/// assert_eq!(duration(Duration::from_secs(26 * 3600 + 60)), "26 h 01 min");
/// ```
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    // The limits are where rounding to three digits would reach the next unit.
    if seconds < 999.5e-9 {
        format!("{} ns", time.as_nanos())
    } else if seconds < 999.5e-6 {
        format!("{} µs", significant(seconds * 1e6, 3))
    } else if seconds < 999.5e-3 {
        format!("{} ms", significant(seconds * 1e3, 3))
    } else if seconds < 59.95 {
        format!("{} s", significant(seconds, 3))
    } else if seconds < 3599.5 {
        let whole = seconds.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        let minutes = (seconds / 60.0).round() as u64;
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_at_the_edges() {
        let cases = [
            (-0.000_999_96, 3, "-0.00100"),
            (99_999.0, 3, "99999"),
            (1e7, 3, "1.00e7"),
            (1e-5, 2, "0.000010"),
            (9.99e-6, 1, "0.00001"),
            (f64::NAN, 3, "NaN"),
            (f64::INFINITY, 3, "inf"),
            (5e-324, 3, "4.94e-324"),
            (1.0, 0, "1"),
        ];
        for (x, digits, text) in cases {
            assert_eq!(significant(x, digits), text);
        }
    }

    #[test]
    fn units_change_where_rounding_would_overflow_them() {
        assert_eq!(bytes(1024 * 1024 - 1), "1.00 MiB");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(duration(Duration::from_nanos(999)), "999 ns");
        assert_eq!(duration(Duration::from_nanos(999_600)), "1.00 ms");
        assert_eq!(duration(Duration::from_millis(59_960)), "1 min 00 s");
        assert_eq!(duration(Duration::from_millis(3_599_600)), "1 h 00 min");
        assert_eq!(duration(Duration::ZERO), "0 ns");
    }

    #[test]
    fn separators_stand_every_three_digits() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(weight(0.999_99), "1");
        assert_eq!(weight(f64::NAN), "NaN");
    }
}
