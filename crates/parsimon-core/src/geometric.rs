//! Sums `f(0) + r f(1) + r^2 f(2) + ...` of a smooth `f` from few of its values.
//!
//! The Gauss rule of the weights `r^x` on `x = 0, 1, 2, ...`: its `N` nodes are the zeros of a Meixner polynomial, and it is exact
//! for polynomials of degree `2N - 1`. Where `f` is analytic within the distance `d` of every `x >= 0`, and at most `M` there, the
//! error is at most
//!
//! ```text
//! M (N!)^2 (sigma/d)^(2N) / (1 - r),    sigma = sqrt(r)/(1 - r)
//! ```

/// The number of nodes.
pub(crate) const NODES: usize = 8;

/// Radius in units of `sigma`: for a function analytic within it, the error of the sum is below `2^-53` of `M / (1 - r)`. It is `(N!)^(1/N) 2^(53/2N)`.
pub(crate) const DISTANCE: f64 = 37.5;

/// The nodes and weights for one ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GeometricRule {
    /// Points at which the function is evaluated, increasing. They are not whole numbers.
    pub(crate) nodes: [f64; NODES],
    /// Weights of the values; they add up to `1 / (1 - r)`.
    pub(crate) weights: [f64; NODES],
}

/// `sigma`, the deviation of a geometric distribution.
pub(crate) fn deviation(ratio: f64) -> f64 {
    ratio.sqrt() / (1.0 - ratio)
}

impl GeometricRule {
    /// The rule for a ratio between 0 and 1.
    pub(crate) fn new(ratio: f64) -> Self {
        let nodes = std::array::from_fn(|k| node(ratio, k));
        Self { nodes, weights: nodes.map(|x| weight(ratio, x)) }
    }
}

/// The coefficients of `x p_n = p_{n+1} + a_n p_n + b_n p_{n-1}`, which the monic polynomials satisfy.
fn recurrence(ratio: f64, n: usize) -> (f64, f64) {
    let n = n as f64;
    ((n * (1.0 + ratio) + ratio) / (1.0 - ratio), (n * deviation(ratio)).powi(2))
}

/// The node with `k` nodes below it, by bisection.
fn node(ratio: f64, k: usize) -> f64 {
    // Upper bound of the nodes (Gershgorin); all are above 0, where the sum begins.
    let (mut low, mut high) = (0.0, 4.0 * NODES as f64 / (1.0 - ratio));
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if below(ratio, middle) > k { high = middle } else { low = middle }
    }
}

/// Counts the nodes below `x` as the sign changes of a Sturm sequence.
fn below(ratio: f64, x: f64) -> usize {
    let (mut count, mut q) = (0, 1.0);
    for n in 0..NODES {
        let (a, b) = recurrence(ratio, n);
        q = a - x - b / q;
        if q == 0.0 {
            q = f64::MIN_POSITIVE;
        }
        count += usize::from(q < 0.0);
    }
    count
}

/// The weight of a node: one over the sum of the squares of the normalized polynomials there.
fn weight(ratio: f64, x: f64) -> f64 {
    let (mut before, mut p) = (0.0, (1.0 - ratio).sqrt());
    let mut squares = 0.0;
    for n in 0..NODES {
        squares += p * p;
        let ((a, b), (_, next)) = (recurrence(ratio, n), recurrence(ratio, n + 1));
        (before, p) = (p, ((x - a) * p - b.sqrt() * before) / next.sqrt());
    }
    1.0 / squares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds up term by term, from the smallest.
    fn sum(ratio: f64, f: impl Fn(f64) -> f64) -> f64 {
        let last = (150.0 / -ratio.ln()) as i32 + 40;
        (0..last).rev().map(|x| ratio.powi(x) * f(f64::from(x))).sum()
    }

    fn gauss(ratio: f64, f: impl Fn(f64) -> f64) -> f64 {
        let rule = GeometricRule::new(ratio);
        rule.nodes.iter().zip(&rule.weights).map(|(&x, w)| w * f(x)).sum()
    }

    const RATIOS: [f64; 6] = [0.01, 0.3, 0.7, 0.9004, 0.99, 0.9995];

    #[test]
    fn polynomials_are_summed_exactly() {
        for ratio in RATIOS {
            let scale = 1.0 / (1.0 - ratio);
            for degree in 0..2 * NODES as i32 {
                let f = |x: f64| (x / scale).powi(degree);
                let (found, exact) = (gauss(ratio, f), sum(ratio, f));
                assert!((found - exact).abs() < 1e-12 * exact, "{ratio} {degree}: {found} {exact}");
            }
        }
    }

    #[test]
    fn the_error_of_an_analytic_function_is_bounded() {
        for ratio in RATIOS {
            // A pole or a branch point at the distance that the constant promises, and half as far.
            for (share, tolerance) in [(1.0, 0.0), (0.5, 2f64.powi(2 * NODES as i32 - 53))] {
                let d = share * DISTANCE * deviation(ratio);
                for f in [|x: f64, d: f64| d / (d + x), |x: f64, d: f64| (1.0 + x / d).sqrt()] {
                    let (found, exact) = (gauss(ratio, |x| f(x, d)), sum(ratio, |x| f(x, d)));
                    let error = (found - exact).abs() / exact;
                    assert!(error < tolerance + 1e-13, "{ratio} {share}: {error:e}");
                }
            }
        }
    }
}
