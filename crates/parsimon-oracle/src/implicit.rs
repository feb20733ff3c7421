//! The scalar equation behind an implicit update (algorithms, section 1, row "solving implicit").

/// Solves `u = slope(margin(u))` for a nondecreasing slope and a nonincreasing margin.
///
/// `u - slope(margin(u))` increases, is at most zero on one side of the bracket between zero and
/// `slope(margin(0))` and at least zero on the other. Bisection runs until no number lies between
/// the two ends. Where the slope jumps, as the hinge's does, the sign changes across the jump and
/// the bisection lands on it: that is the subgradient the update needs.
pub(crate) fn solve_slope(slope: impl Fn(f64) -> f64, margin: impl Fn(f64) -> f64) -> f64 {
    // NUMERICS: exp(p) may be infinite in a Poisson slope; a finite end keeps the middle a number.
    let first = slope(margin(0.0)).clamp(-f64::MAX, f64::MAX);
    // The far end is itself the answer when the slope has saturated, as the hinge's at -y.
    if slope(margin(first)) == first {
        return first;
    }
    let (mut low, mut high) = (first.min(0.0), first.max(0.0));
    // One halving per bit of exponent and mantissa is enough from any bracket.
    for _ in 0..2200 {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if middle > slope(margin(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    // Neighboring numbers: either end is the answer to the last bit. Take the smaller step.
    if first < 0.0 { high } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;

    #[test]
    fn squared_has_a_closed_form() {
        // u = p - y with p = 2 - 3u, y = 1: u = 1/4.
        assert_eq!(solve_slope(|p| Loss::Squared.slope(p, 1.0), |u| 2.0 - 3.0 * u), 0.25);
    }

    #[test]
    fn hinge_lands_on_its_kink() {
        // p = -4u must reach 1 with u in [-1, 0]: u = -1/4. With p = -u/2 it never does: u = -1.
        let hinge = |p| Loss::Hinge.slope(p, 1.0);
        assert!((solve_slope(hinge, |u| -4.0 * u) + 0.25).abs() < 1e-16);
        assert_eq!(solve_slope(hinge, |u| -0.5 * u), -1.0);
        assert_eq!(solve_slope(hinge, |u| 2.0 - u), 0.0);
    }
}
