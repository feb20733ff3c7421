//! `e^x` and `ln(1 + x)` by additions, multiplications and divisions alone.
//!
//! The functions of the system are as exact, but their last bit differs between C libraries, and a loop over them cannot be
//! computed several at a time. These give the same bits on every machine, and a loop over them goes into wide registers.

/// `e^x`, to within two units in the last place.
///
/// NUMERICS: `x = n ln 2 + r` with `|r| <= ln 2 / 2`; `ln 2` in two parts, so that `r` has all its digits. The series of `e^r` is
/// cut where its terms fall below the last place, and added in pairs.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    // Adding it leaves the nearest integer in the lowest bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let shifted = x.clamp(-745.0, 710.0) * std::f64::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let (r2, c) = (r * r, &INVERSE_FACTORIALS);
    let r4 = r2 * r2;
    let pair = |k: usize| c[k] + c[k + 1] * r;
    let low = (pair(0) + pair(2) * r2) + (pair(4) + pair(6) * r2) * r4;
    let high = (pair(8) + pair(10) * r2) + pair(12) * r4;
    let value = (low + high * (r4 * r4)) * power_of_two(shifted);
    // Beyond these the result is not a normal number.
    if x > 709.0 {
        f64::INFINITY
    } else if x < -708.0 {
        0.0
    } else {
        value
    }
}

/// `2^n` for the `n` in the lowest bits.
#[inline(always)]
fn power_of_two(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// `1/k!`.
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut c = [1.0; 14];
    let mut k = 1;
    while k < 14 {
        c[k] = c[k - 1] / k as f64;
        k += 1;
    }
    c
};

/// `ln(1 + x)` for `x` from 0 to 1, to within a few units in the last place.
///
/// NUMERICS: `ln(1 + x) = 2 artanh(t)`, `t = x / (2 + x) <= 1/3`: the series `t + t^3/3 + t^5/5 + ...` has no cancellation.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    let t = x / (2.0 + x);
    let t2 = t * t;
    let t4 = t2 * t2;
    let t8 = t4 * t4;
    let pair = |k: usize| 1.0 / (2 * k + 1) as f64 + t2 / (2 * k + 3) as f64;
    let four = |k: usize| pair(k) + pair(k + 2) * t4;
    let eight = |k: usize| four(k) + four(k + 4) * t8;
    2.0 * t * (eight(0) + (eight(8) + pair(16) * (t8 * t8)) * (t8 * t8))
}

/// `ln(x)` for `x = 1 + rest`, where `rest >= 0` may be too small to show in `x`; to within a few units in the last place.
///
/// NUMERICS: `x = m 2^e` with `1 <= m < 2`, so nothing is added to a logarithm of another sign.
#[inline(always)]
pub(crate) fn ln(x: f64, rest: f64) -> f64 {
    if rest <= 1.0 {
        return ln_1p(rest);
    }
    let bits = x.to_bits();
    let exponent = (bits >> 52) as f64 - 1023.0;
    let m = f64::from_bits(bits & ((1 << 52) - 1) | (1023 << 52));
    if x.is_finite() { exponent * std::f64::consts::LN_2 + ln_1p(m - 1.0) } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units in the last place between two numbers of one sign.
    fn apart(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn exp_is_the_exponential() {
        for k in -70_000..70_000 {
            let x = f64::from(k) * 0.010_113;
            assert!(apart(exp(x), x.exp()) <= 2, "{x}: {} {}", exp(x), x.exp());
        }
        assert_eq!((exp(0.0), exp(-0.0), exp(1e308), exp(-1e308)), (1.0, 1.0, f64::INFINITY, 0.0));
        assert_eq!((exp(f64::INFINITY), exp(f64::NEG_INFINITY)), (f64::INFINITY, 0.0));
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn ln_1p_is_the_logarithm() {
        for k in 0..=100_000 {
            let x = f64::from(k) * 1e-5;
            for x in [x, x * 1e-9, x * x * x] {
                assert!(apart(ln_1p(x), x.ln_1p()) <= 6, "{x}: {} {}", ln_1p(x), x.ln_1p());
            }
        }
        assert!(ln_1p(f64::NAN).is_nan());
    }

    #[test]
    fn ln_is_the_logarithm() {
        for k in 0..=100_000 {
            let rest = (f64::from(k) * 2e-4).exp() - 1.0;
            assert!(apart(ln(1.0 + rest, rest), rest.ln_1p()) <= 8, "{rest}");
        }
        assert_eq!(ln(1.0, 1e-300), 1e-300);
        assert!(ln(f64::NAN, f64::NAN).is_nan() && ln(f64::INFINITY, f64::INFINITY).is_infinite());
    }
}
