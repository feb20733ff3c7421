//! Student's t distribution: the chance of a value at least as far out, and the value for a chance.

/// The chance that a variable with `degrees` of freedom is at least `t` away from zero, on either side.
pub(crate) fn two_sided(t: f64, degrees: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    incomplete_beta(degrees / (degrees + t * t), 0.5 * degrees, 0.5)
}

/// The value that is exceeded, on either side, with this chance.
pub(crate) fn critical(chance: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_sided(high, degrees) > chance && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, degrees) > chance { low = middle } else { high = middle }
    }
    high
}

/// The regularized incomplete beta function, by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        (a * x.ln() + b * (1.0 - x).ln() + log_gamma(a + b) - log_gamma(a) - log_gamma(b)).exp();
    // The fraction converges fast on this side only.
    match x < (a + 1.0) / (a + b + 2.0) {
        true => front * fraction(x, a, b) / a,
        false => 1.0 - front * fraction(1.0 - x, b, a) / b,
    }
}

/// Lentz's way to evaluate the fraction.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let away = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function, after Lanczos.
fn log_gamma(x: f64) -> f64 {
    const TERMS: [f64; 6] = [
        76.180_091_729_471_46,
        -86.505_320_329_416_77,
        24.014_098_240_830_91,
        -1.231_739_572_450_155,
        0.001_208_650_973_866_179,
        -0.000_005_395_239_384_953,
    ];
    let start = x + 5.5;
    let mut sum = 1.000_000_000_190_015;
    for (k, term) in (1..).zip(TERMS) {
        sum += term / (x + f64::from(k));
    }
    (x + 0.5) * start.ln() - start + (2.506_628_274_631_000_5 * sum / x).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of printed tables.
    #[test]
    fn the_tables_of_student() {
        for (chance, degrees, t) in [
            (0.01, 9.0, 3.2498),
            (0.05, 1.0, 12.706),
            (0.01, 99.0, 2.6264),
            (0.001, 9.0, 4.7809),
            (0.10, 30.0, 1.6973),
        ] {
            assert!((critical(chance, degrees) - t).abs() < 2e-3 * t, "{chance}, {degrees}");
            assert!((two_sided(t, degrees) - chance).abs() < 2e-4, "{chance}, {degrees}");
        }
        assert_eq!(two_sided(f64::INFINITY, 9.0), 0.0);
        assert!((two_sided(0.0, 9.0) - 1.0).abs() < 1e-12);
    }
}
