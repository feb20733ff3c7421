//! The kernels: functions of two rows that only need their distance and their dot product.

/// A kernel.
///
/// ```
/// use parsimon_core::kernel::Kernel;
///
/// // Two rows at squared distance 0.5 whose dot product is 3.
/// let gaussian = Kernel::Gaussian { variance: 0.25 };
/// let tau = std::f64::consts::TAU;
/// assert_eq!(gaussian.value(0.5, 3.0), (-1.0f64).exp() / (tau * 0.25).sqrt());
/// assert_eq!(Kernel::Linear.value(0.5, 3.0), 3.0);
/// assert_eq!(Kernel::Polynomial { degree: 2 }.value(0.5, 3.0), 16.0);
/// assert_eq!(gaussian.to_string(), "gaussian(0.25)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// `exp(-|u-v|^2 / (2 variance)) / sqrt(2 pi variance)`, the normalized Gaussian of (A.34), for any number of
    /// features.
    Gaussian {
        /// `sigma_m`, which is a variance; > 0.
        variance: f64,
    },
    /// `u.v`
    Linear,
    /// `(1 + u.v)^degree`
    Polynomial {
        /// The exponent; >= 1.
        degree: u32,
    },
}

// NUMERICS: |K|^2 adds up the squares of all values, and one infinite value would make every coefficient NaN. Up to this
// magnitude the squares of more values than fit in memory still have a finite sum.
const SATURATED: f64 = 1e140;

impl Kernel {
    /// The value for two rows at squared distance `distance2` with dot product `dot`.
    ///
    /// Saturates at a magnitude of 1e140, which only huge features under a polynomial reach.
    pub fn value(self, distance2: f64, dot: f64) -> f64 {
        let value = match self {
            Kernel::Gaussian { variance } => {
                // NUMERICS: 2 variance may overflow, and inf/inf is no number; half of a quotient is exact.
                (-distance2 / variance / 2.0).exp() / (std::f64::consts::TAU * variance).sqrt()
            }
            Kernel::Linear => dot,
            Kernel::Polynomial { degree } => power(1.0 + dot, degree),
        };
        value.clamp(-SATURATED, SATURATED)
    }
}

/// NUMERICS: `powi` promises no particular rounding; multiplications by squaring are the same everywhere.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut product, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left % 2 == 1 {
            product *= square;
        }
        square *= square;
        left /= 2;
    }
    product
}

impl std::fmt::Display for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kernel::Gaussian { variance } => write!(f, "gaussian({variance})"),
            Kernel::Linear => f.write_str("linear"),
            Kernel::Polynomial { degree } => write!(f, "polynomial({degree})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gaussian_is_a_density_on_the_line() {
        // Origin: the integral of a density is 1.
        for variance in [0.01, 1.0, 7.0] {
            let (kernel, step) = (Kernel::Gaussian { variance }, 0.001 * f64::sqrt(variance));
            let sum: f64 = (-10_000..=10_000)
                .map(|i| kernel.value((f64::from(i) * step).powi(2), 0.0) * step)
                .sum();
            assert!((sum - 1.0).abs() < 1e-12, "{variance}: {sum}");
        }
    }

    #[test]
    fn powers_are_products() {
        for (degree, expected) in [(1, -1.5), (2, 2.25), (3, -3.375), (5, -7.59375)] {
            assert_eq!(Kernel::Polynomial { degree }.value(0.0, -2.5), expected);
        }
    }

    #[test]
    fn no_finite_input_gives_an_infinite_value() {
        let kernels = [
            Kernel::Gaussian { variance: f64::MIN_POSITIVE },
            Kernel::Gaussian { variance: f64::MAX },
            Kernel::Linear,
            Kernel::Polynomial { degree: u32::MAX },
        ];
        for kernel in kernels {
            for distance2 in [0.0, 1e-300, 1e300, f64::INFINITY] {
                for dot in [f64::MIN, -1.0, 0.0, 3.0, f64::MAX] {
                    let value = kernel.value(distance2, dot);
                    assert!((value * value).is_finite(), "{kernel} at {distance2}, {dot}: {value}");
                }
            }
        }
    }
}
