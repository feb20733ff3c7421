//! Theorem 7 beyond quadratics: AOGD as mirror descent and as an origin-centered leader
//! (003; McMahan 2011, eq. 20 and 21), with any separable differentiable convex `R_t`.
//!
//! `f_t` is the loss of the row or, when explicit, its tangent at the point played, and
//! `Psi = l1 |x|_1`.

use crate::implicit::solve_slope;
use crate::loss::Loss;
use crate::prox::sign;

/// One coordinate of one round's regularizer:
/// `R(x) = quadratic/2 (x - center)^2 + bend ln cosh(x - shift)`.
///
/// The gradient at zero is not zero unless both centers are: the theorem does not need it.
#[derive(Clone, Copy, Debug)]
pub struct Bowl {
    /// Curvature of the quadratic part; must be positive in the first round.
    pub quadratic: f64,
    /// Minimizer of the quadratic part.
    pub center: f64,
    /// Size of the part that is not quadratic.
    pub bend: f64,
    /// Minimizer of that part.
    pub shift: f64,
}

impl Bowl {
    /// `R'(x)`.
    pub fn derivative(&self, x: f64) -> f64 {
        self.quadratic * (x - self.center) + self.bend * (x - self.shift).tanh()
    }
}

/// One round: a dense row, its label, and the regularizer of each coordinate.
#[derive(Clone, Debug)]
pub struct Row {
    /// The features.
    pub x: Vec<f64>,
    /// The label.
    pub y: f64,
    /// `R_t`, coordinate by coordinate.
    pub regularizer: Vec<Bowl>,
}

/// Whether `f_t` is the loss itself or its tangent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// The tangent at the point played.
    Linear,
    /// The loss, at the new point.
    Implicit,
}

/// `R_{1:t}'(x)` of coordinate `i`.
fn total_derivative(rows: &[Row], i: usize, x: f64) -> f64 {
    rows.iter().map(|row| row.regularizer[i].derivative(x)).sum()
}

/// `x` with `R_{1:t}'(x) + b + l1 d|x|` containing zero, by bisection to the last bit.
fn stationary(rows: &[Row], i: usize, b: f64, l1: f64) -> f64 {
    let at_zero = total_derivative(rows, i, 0.0) + b;
    if at_zero.abs() <= l1 {
        return 0.0;
    }
    let curvature: f64 = rows.iter().map(|row| row.regularizer[i].quadratic).sum();
    let direction = -sign(at_zero);
    let (mut near, mut far) = (0.0_f64, direction * (at_zero.abs() - l1) / curvature);
    for _ in 0..2200 {
        let middle = near + (far - near) / 2.0;
        if middle == near || middle == far {
            break;
        }
        let residual = total_derivative(rows, i, middle) + b + l1 * direction;
        // Still pulled away from zero: the minimizer is farther out.
        if residual * direction < 0.0 {
            near = middle;
        } else {
            far = middle;
        }
    }
    near
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Plays the argmin whose linear part, beside `u a` of the loss, is `linear(rows so far, x_t, i)`.
fn play(
    rows: &[Row],
    loss: Loss,
    l1: f64,
    update: Update,
    mut linear: impl FnMut(&[Row], &[f64], f64) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let n = rows[0].x.len();
    let mut x = vec![0.0; n];
    let mut points = Vec::new();
    // The slope the last round settled on, which tells the leader g'_{t-1}.
    let mut last_slope = 0.0;
    for t in 0..rows.len() {
        let row = &rows[t];
        let b = linear(&rows[..=t], &x, last_slope);
        let argmin = |u: f64| -> Vec<f64> {
            (0..n).map(|i| stationary(&rows[..=t], i, b[i] + u * row.x[i], l1)).collect()
        };
        let u = match update {
            Update::Linear => loss.slope(dot(&x, &row.x), row.y),
            Update::Implicit => solve_slope(|p| loss.slope(p, row.y), |u| dot(&row.x, &argmin(u))),
        };
        x = argmin(u);
        last_slope = u;
        points.push(x.clone());
    }
    points
}

/// Eq. 20: `argmin (f_t)(x) + R_t'(x_t).x + Psi(x) + B_{1:t}(x, x_t)`, `B` the Bregman divergence of
/// `R_{1:t}`, whose gradient in `x` is `R_{1:t}'(x) - R_{1:t}'(x_t)`.
pub fn mirror_descent(rows: &[Row], loss: Loss, l1: f64, update: Update) -> Vec<Vec<f64>> {
    play(rows, loss, l1, update, |seen, x, _| {
        let now = &seen[seen.len() - 1];
        (0..x.len())
            .map(|i| now.regularizer[i].derivative(x[i]) - total_derivative(seen, i, x[i]))
            .collect()
    })
}

/// Eq. 21: `argmin g'_{1:t-1}.x + f_t(x) + R_{1:t}(x) + phi_{1:t-1}.x + Psi(x)`, with `phi_t` the
/// subgradient of `Psi` that makes `g'_{1:t} + R_{1:t}'(x_{t+1}) + phi_{1:t} = 0`.
pub fn leader(rows: &[Row], loss: Loss, l1: f64, update: Update) -> Vec<Vec<f64>> {
    let mut past = vec![0.0; rows[0].x.len()];
    let mut phi = vec![0.0; rows[0].x.len()];
    play(rows, loss, l1, update, |seen, x, last_slope| {
        if let [before @ .., _] = seen
            && let Some(last) = before.last()
        {
            for i in 0..x.len() {
                past[i] += last_slope * last.x[i];
                phi[i] = -(past[i] + total_derivative(before, i, x[i]));
            }
        }
        past.iter().zip(&phi).map(|(past, phi)| past + phi).collect()
    })
}
