//! Corollary 5 with full matrices: gradient descent against FTRL-Proximal (003; McMahan 2011).

/// A dense square matrix, row by row.
pub type Matrix = Vec<Vec<f64>>;

/// `A x`.
pub fn times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// `A + B`.
pub fn plus(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

/// `x` with `A x = b`, by Gaussian elimination with row exchange.
pub fn solve(a: &Matrix, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Matrix = a
        .iter()
        .zip(b)
        .map(|(row, &b)| row.iter().copied().chain(std::iter::once(b)).collect())
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()));
        rows.swap(k, pivot.unwrap_or(k));
        let (above, below) = rows.split_at_mut(k + 1);
        let top = &above[k];
        for row in below {
            let factor = row[k] / top[k];
            for (entry, top) in row.iter_mut().zip(top).skip(k) {
                *entry -= factor * top;
            }
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| rows[i][j] * x[j]).sum();
        x[i] = (rows[i][n] - known) / rows[i][i];
    }
    x
}

/// Gradient descent with learning rates `Q_{1:t}^{-1}`: `x_{t+1} = x_t - Q_{1:t}^{-1} g_t`.
///
/// `gradient(t, x)` is the gradient of round `t`, counted from zero, at `x`. The first `Q` must be
/// positive definite, the others positive semi-definite.
pub fn gradient_descent(
    metrics: &[Matrix],
    gradient: impl Fn(usize, &[f64]) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let n = metrics[0].len();
    let mut total = vec![vec![0.0; n]; n];
    let mut x = vec![0.0; n];
    let mut points = Vec::new();
    for (t, q) in metrics.iter().enumerate() {
        total = plus(&total, q);
        let step = solve(&total, &gradient(t, &x));
        x = x.iter().zip(step).map(|(x, step)| x - step).collect();
        points.push(x.clone());
    }
    points
}

/// FTRL-Proximal: `argmin g_{1:t}.x + 1/2 sum_s |Q_s^{1/2} (x - x_s)|^2`, solved from the past.
pub fn ftrl_proximal(
    metrics: &[Matrix],
    gradient: impl Fn(usize, &[f64]) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let n = metrics[0].len();
    let mut played = vec![vec![0.0; n]];
    let mut gradients: Vec<Vec<f64>> = Vec::new();
    for t in 0..metrics.len() {
        gradients.push(gradient(t, &played[t]));
        // Q_{1:t} x = sum_s (Q_s x_s - g_s).
        let mut total = vec![vec![0.0; n]; n];
        let mut right = vec![0.0; n];
        for s in 0..=t {
            total = plus(&total, &metrics[s]);
            let centered = times(&metrics[s], &played[s]);
            for i in 0..n {
                right[i] += centered[i] - gradients[s][i];
            }
        }
        played.push(solve(&total, &right));
    }
    played.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_by_hand() {
        // Needs a row exchange: the first pivot is zero.
        let a = vec![vec![0.0, 2.0], vec![4.0, 1.0]];
        assert_eq!(solve(&a, &[6.0, 7.0]), vec![1.0, 3.0]);
    }
}
