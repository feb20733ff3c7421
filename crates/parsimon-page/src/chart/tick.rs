//! Labels of axis ticks.

/// `m * 10^k`. NUMERICS: for negative `k` a division, because 10^3 is exact and 10^-3 is not.
pub(crate) fn decimal(m: u8, k: i32) -> f64 {
    let m = f64::from(m);
    if k < 0 { m / 10f64.powi(-k) } else { m * 10f64.powi(k) }
}

/// A label with the decimals its step needs; large numbers in thousands, millions and billions, small
/// ones as powers of ten. All labels of one axis look alike.
pub(crate) fn linear_label(at: f64, step: f64, largest: f64) -> String {
    if at == 0.0 {
        return "0".to_owned();
    }
    let exponent = largest.log10().floor() as i32;
    let (unit, suffix) = match exponent {
        ..-3 | 15.. => (10f64.powi(exponent), format!("×10{}", superscript(exponent))),
        -3..4 => (1.0, String::new()),
        4..6 => (1e3, "k".to_owned()),
        6..9 => (1e6, "M".to_owned()),
        9..15 => (1e9, "G".to_owned()),
    };
    let decimals = (-(step / unit * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{:.decimals$}{suffix}", at / unit).replace('-', "−")
}

/// Notations of labels on a logarithmic axis.
#[derive(Clone, Copy)]
pub(crate) enum LogStyle {
    /// 0.01, 1, 200, 5k, 10M.
    Plain,
    /// 10⁻², 10⁰, 10⁷.
    Power,
}

/// A label for `m * 10^k`.
pub(crate) fn log_label(m: u8, k: i32, style: LogStyle) -> String {
    let decimals = k.min(0).unsigned_abs() as usize;
    match (style, k) {
        (LogStyle::Plain, -4..3) => format!("{:.decimals$}", decimal(m, k)),
        (LogStyle::Plain, 3..6) => format!("{}k", decimal(m, k - 3)),
        (LogStyle::Plain, 6..9) => format!("{}M", decimal(m, k - 6)),
        (LogStyle::Plain, 9..12) => format!("{}G", decimal(m, k - 9)),
        _ if m == 1 => format!("10{}", superscript(k)),
        _ => format!("{m}×10{}", superscript(k)),
    }
}

fn superscript(k: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let place = |c: char| c.to_digit(10).map_or('⁻', |d| DIGITS[d as usize]);
    k.to_string().chars().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_are_the_nearest_numbers() {
        assert_eq!([decimal(1, -3), decimal(2, -1), decimal(5, 0)], [1e-3, 0.2, 5.0]);
        assert_eq!(decimal(3, -1), 0.3);
    }

    #[test]
    fn labels_use_the_units_of_their_size() {
        assert_eq!(log_label(2, 4, LogStyle::Plain), "20k");
        assert_eq!(log_label(5, -2, LogStyle::Plain), "0.05");
        assert_eq!(log_label(1, -12, LogStyle::Power), "10⁻¹²");
        assert_eq!(linear_label(-0.25, 0.05, 0.3), "−0.25");
        assert_eq!(linear_label(2e9, 1e9, 3e9), "2G");
    }
}
