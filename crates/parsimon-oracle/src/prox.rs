//! Proximal maps and projections (algorithms, section 1, row "prox").
//!
//! `prox_{c r}(v) = argmin_x 1/2 |x - v|^2 + c r(x)`, each in closed form on a dense vector.

/// `soft(v, c) = sgn(v) max(|v| - c, 0)`: the prox of `c |x|`.
pub fn soft(v: f64, c: f64) -> f64 {
    let size = v.abs() - c;
    if size > 0.0 { v.signum() * size } else { 0.0 }
}

/// `sgn(v)` with `sgn(0) = 0`.
pub fn sign(v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { v.signum() }
}

/// The Euclidean norm.
pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The prox of `c1 |x|_1 + c2/2 |x|^2`: `soft(v, c1) / (1 + c2)`.
pub fn elastic(v: &[f64], c1: f64, c2: f64) -> Vec<f64> {
    v.iter().map(|&v| soft(v, c1) / (1.0 + c2)).collect()
}

/// The prox of `c |x|_2`: `max(0, 1 - c/|v|) v`.
pub fn l2_norm(v: &[f64], c: f64) -> Vec<f64> {
    let length = norm(v);
    if length <= c {
        return vec![0.0; v.len()];
    }
    v.iter().map(|v| (1.0 - c / length) * v).collect()
}

/// The prox of `c |x|_inf`, by Moreau: `v` minus its projection on the l1 ball of radius `c`.
pub fn linf(v: &[f64], c: f64) -> Vec<f64> {
    v.iter().zip(project_l1_ball(v, c)).map(|(v, projected)| v - projected).collect()
}

/// The prox of `c sum_G |x_G|_2` over disjoint groups; coordinates in no group stay.
pub fn group(v: &[f64], groups: &[Vec<usize>], c: f64) -> Vec<f64> {
    let mut x = v.to_vec();
    for members in groups {
        let part: Vec<f64> = members.iter().map(|&i| v[i]).collect();
        for (&i, shrunk) in members.iter().zip(l2_norm(&part, c)) {
            x[i] = shrunk;
        }
    }
    x
}

/// The nearest point of the l2 ball.
pub fn project_l2_ball(v: &[f64], radius: f64) -> Vec<f64> {
    let length = norm(v);
    if length <= radius {
        return v.to_vec();
    }
    v.iter().map(|v| v * (radius / length)).collect()
}

/// The nearest point of the l1 ball: `soft(v, theta)` with the `theta` that spends the radius.
///
/// With sizes sorted downwards, `theta = (u_1 + ... + u_k - radius)/k` for the largest `k` whose
/// `u_k` is above it (Duchi et al. 2008, figure 1).
pub fn project_l1_ball(v: &[f64], radius: f64) -> Vec<f64> {
    let total: f64 = v.iter().map(|v| v.abs()).sum();
    if total <= radius {
        return v.to_vec();
    }
    let mut sizes: Vec<f64> = v.iter().map(|v| v.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let mut theta = 0.0;
    let mut sum = 0.0;
    for (k, &size) in sizes.iter().enumerate() {
        sum += size;
        let candidate = (sum - radius) / (k + 1) as f64;
        if size > candidate {
            theta = candidate;
        }
    }
    v.iter().map(|&v| soft(v, theta)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(soft(-3.0, 1.0), -2.0);
        assert_eq!(soft(1.0, 1.0), 0.0);
        assert_eq!(soft(-0.0, 0.0), 0.0);
        assert_eq!(elastic(&[3.0, -0.5], 1.0, 1.0), vec![1.0, 0.0]);
        assert_eq!(l2_norm(&[3.0, 4.0], 2.5), vec![1.5, 2.0]);
        assert_eq!(l2_norm(&[3.0, 4.0], 5.0), vec![0.0, 0.0]);
        // |x|_inf with c = 2: the two largest are cut to the same height, 5+4-2 = 7 shared by two.
        assert_eq!(linf(&[5.0, -4.0, 1.0], 2.0), vec![3.5, -3.5, 1.0]);
        assert_eq!(group(&[3.0, 7.0, 4.0], &[vec![0, 2]], 2.5), vec![1.5, 7.0, 2.0]);
        assert_eq!(project_l1_ball(&[3.0, -1.0], 2.0), vec![2.0, 0.0]);
        assert_eq!(project_l1_ball(&[3.0, -2.0], 3.0), vec![2.0, -1.0]);
        assert_eq!(project_l1_ball(&[0.5, -0.5], 1.0), vec![0.5, -0.5]);
        assert_eq!(project_l2_ball(&[3.0, 4.0], 2.5), vec![1.5, 2.0]);
    }
}
