//! A small symmetric system by Cholesky's factorization.

use crate::Float;

/// Solves `(G + delta I) a = e` in place: `e` becomes `a`. `g` holds the lower triangle row by row, `r` to a row, and
/// is overwritten by its factor.
///
/// A row that depends on the earlier ones (a pivot of no significance) takes no part: its coefficient is zero. This
/// happens with `delta = 0` and a constant or silent input, where the projection onto the intersection is reached
/// without it.
#[inline(always)]
pub(crate) fn cholesky<F: Float>(g: &mut [F], e: &mut [F], delta: F) {
    let r = e.len();
    let tiny = F::from_f64(F::PRECISION.epsilon());
    for i in 0..r {
        for j in 0..=i {
            let mut sum = g[i * r + j];
            if i == j {
                sum += delta;
            }
            let before = sum;
            for k in 0..j {
                sum -= g[i * r + k] * g[j * r + k];
            }
            if i == j {
                let significant = sum > before.abs() * tiny && sum.to_f64().is_finite();
                g[i * r + i] = if significant { sum.sqrt() } else { F::ZERO };
            } else {
                let pivot = g[j * r + j];
                g[i * r + j] = if pivot > F::ZERO { sum / pivot } else { F::ZERO };
            }
        }
    }
    for i in 0..r {
        let mut sum = e[i];
        for k in 0..i {
            sum -= g[i * r + k] * e[k];
        }
        let pivot = g[i * r + i];
        e[i] = if pivot > F::ZERO { sum / pivot } else { F::ZERO };
    }
    for i in (0..r).rev() {
        let mut sum = e[i];
        for k in i + 1..r {
            sum -= g[k * r + i] * e[k];
        }
        let pivot = g[i * r + i];
        e[i] = if pivot > F::ZERO { sum / pivot } else { F::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves() {
        let full = [[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]];
        let mut g = [4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let mut e = [1.0, -2.0, 0.5];
        cholesky(&mut g, &mut e, 0.25);
        for (row, want) in full.iter().zip([1.0, -2.0, 0.5]) {
            let i = full.iter().position(|r| r == row).unwrap();
            let got: f64 = row.iter().zip(&e).map(|(g, a)| g * a).sum::<f64>() + 0.25 * e[i];
            assert!((got - want).abs() < 1e-14);
        }
    }

    #[test]
    fn a_repeated_row_takes_no_part() {
        let (mut g, mut e) = ([4.0, 0.0, 4.0, 4.0], [2.0, 2.0]);
        cholesky(&mut g, &mut e, 0.0);
        assert_eq!(e, [0.5, 0.0]);
        let (mut g, mut e) = ([0.0, 0.0, 0.0, 0.0], [2.0, 2.0]);
        cholesky(&mut g, &mut e, 0.0);
        assert_eq!(e, [0.0, 0.0]);
    }
}
