//! The scalar equation behind an implicit update.
//!
//! Each coordinate's next weight is known as a function of one number `u`, the slope of the loss at the next
//! margin; the margin falls with `u` and the slope rises with the margin, so `u = slope(margin(u))` has one
//! solution, between 0 and `slope(margin(0))`.

use crate::penalty::{Bounds, Candidate};
use crate::sums::{LANES, fold_lanes, sum_lanes};
use crate::wide::{Work, wide};

/// Solves `u = slope(margin(u))`, to the last bit or nearly.
///
/// At a kink of the loss, where the slope jumps, the solution lies inside the jump and is found nevertheless.
///
/// ```
/// use parsimon_core::implicit::solve;
///
/// // Squared loss at label 1, margin 0 - 2u: u = (-2u) - 1.
/// let u = solve(|m| m - 1.0, |u| -2.0 * u);
/// assert!((u + 1.0 / 3.0).abs() < 1e-16);
/// ```
pub fn solve(slope: impl Fn(f64) -> f64, margin: impl Fn(f64) -> f64) -> f64 {
    let excess = |u: f64| u - slope(margin(u));
    let far = slope(margin(0.0));
    if far == 0.0 {
        return 0.0;
    }
    let at_far = excess(far);
    // The bracket: `excess` rises; it is -far at 0 and has far's sign (or is 0) at far.
    let (mut a, mut fa, mut b, mut fb) = (0.0, -far, far, at_far);
    if fb == 0.0 {
        return far;
    }
    // Secant steps while they converge, a bisection whenever the bracket did not halve.
    let mut bisect = false;
    for _ in 0..256 {
        let width = (b - a).abs();
        let middle = a + (b - a) / 2.0;
        let secant = a - fa * (b - a) / (fb - fa);
        let inside = (secant - a) * (secant - b) < 0.0;
        let m = if bisect || !inside { middle } else { secant };
        if m == a || m == b {
            break;
        }
        let fm = excess(m);
        if fm == 0.0 {
            return m;
        }
        if (fm > 0.0) == (fb > 0.0) {
            (b, fb) = (m, fm);
        } else {
            (a, fa) = (m, fm);
        }
        bisect = (b - a).abs() > width / 2.0;
    }
    if fa.abs() < fb.abs() { a } else { b }
}

/// Contribution of each coordinate of a row to the next margin: its problem and its value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    z: Vec<f64>,
    q: Vec<f64>,
    l1: Vec<f64>,
    x: Vec<f64>,
    /// Empty, or as long as the others: the coordinates of a learner have penalties of one type.
    bounds: Vec<Bounds>,
}

impl Shares {
    pub(crate) fn clear(&mut self) {
        for column in [&mut self.z, &mut self.q, &mut self.l1, &mut self.x] {
            column.clear();
        }
        self.bounds.clear();
    }

    pub(crate) fn push(&mut self, candidate: Candidate, x: f64) {
        self.z.push(candidate.z);
        self.q.push(candidate.q);
        self.l1.push(candidate.l1);
        self.x.push(x);
        self.bounds.extend(candidate.bounds);
    }

    /// The next margin if the loss's slope there is `u`.
    pub(crate) fn margin(&self, u: f64) -> f64 {
        if self.bounds.is_empty() {
            wide(Margin { shares: self, u })
        } else {
            self.bounded_margin(u)
        }
    }

    /// Bounds of the weights, in the same order.
    fn bounded_margin(&self, u: f64) -> f64 {
        let problems = self.z.iter().zip(&self.q).zip(&self.l1).zip(&self.bounds).zip(&self.x);
        sum_lanes(problems.map(|((((&z, &q), &l1), &bounds), &x)| {
            x * Candidate { z, q, l1, bounds: Some(bounds) }.at(u, x)
        }))
    }
}

/// PERF: an update computes the margin about ten times.
struct Margin<'a> {
    shares: &'a Shares,
    u: f64,
}

impl Work for Margin<'_> {
    type Output = f64;

    #[inline(always)]
    fn work(self) -> f64 {
        let Shares { z, q, l1, x, .. } = self.shares;
        let share = |z: f64, q: f64, l1: f64, x: f64| {
            x * Candidate { z, q, l1, bounds: None }.at(self.u, x)
        };
        let (mut sums, n) = ([0.0; LANES], z.len() / LANES * LANES);
        let columns = [z, q, l1, x].map(|column| column.split_at(n));
        let [blocks_z, blocks_q, blocks_l1, blocks_x] =
            columns.map(|(blocks, _)| blocks.as_chunks::<LANES>().0);
        for (((z, q), l1), x) in blocks_z.iter().zip(blocks_q).zip(blocks_l1).zip(blocks_x) {
            for k in 0..LANES {
                sums[k] += share(z[k], q[k], l1[k], x[k]);
            }
        }
        let [z, q, l1, x] = columns.map(|(_, rest)| rest);
        for (k, sum) in sums.iter_mut().enumerate().take(z.len()) {
            *sum += share(z[k], q[k], l1[k], x[k]);
        }
        fold_lanes(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;

    #[test]
    fn hinge_lands_on_the_kink() {
        // PA-I: margin 0.2, |x|^2 = 4, eta = 1: the step that reaches margin 1 is 0.8/4 = 0.2 < eta.
        let u = solve(|m| Loss::Hinge.slope(m, 1.0), |u| 0.2 - 4.0 * u);
        assert!((u + 0.2).abs() < 1e-15, "{u}");
    }

    #[test]
    fn the_solution_solves() {
        for loss in [Loss::Logistic, Loss::Squared, Loss::SquaredHinge, Loss::Poisson] {
            for (p, s, y) in
                [(0.3, 2.0, 1.0), (-4.0, 100.0, 1.0), (9.0, 1e-3, 1.0), (5.0, 1e6, 1.0)]
            {
                let u = solve(|m| loss.slope(m, y), |u| p - s * u);
                let residual = u - loss.slope(p - s * u, y);
                assert!(residual.abs() <= 1e-9 * (1.0 + s), "{loss:?} {p} {s}: {residual}");
            }
        }
    }
}
