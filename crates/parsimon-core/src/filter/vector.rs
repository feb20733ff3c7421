//! The inner loops, written so that the compiler vectorizes them: fixed lanes, no branches, no allocation.

use crate::Float;

/// The number of running sums: four registers of the widest kind used, which hides the latency of addition.
const LANES: usize = 32;

/// Folds lanes in halves: the same tree on every machine.
#[inline(always)]
fn fold<F: Float>(mut sums: [F; LANES]) -> F {
    let mut width = LANES / 2;
    while width > 0 {
        for k in 0..width {
            sums[k] += sums[k + width];
        }
        width /= 2;
    }
    sums[0]
}

/// `a.b`, the shorter one's length.
#[inline(always)]
pub(crate) fn dot<F: Float>(a: &[F], b: &[F]) -> F {
    sum(a, b, |a, b| a * b)
}

/// The sum of `term(a_i, b_i)`.
#[inline(always)]
pub(crate) fn sum<F: Float>(a: &[F], b: &[F], term: impl Fn(F, F) -> F) -> F {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let mut sums = [F::ZERO; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for k in 0..LANES {
            sums[k] += term(a[k], b[k]);
        }
    }
    for (sum, (&a, &b)) in sums.iter_mut().zip(rest) {
        *sum += term(a, b);
    }
    fold(sums)
}

/// `w += c x`.
#[inline(always)]
pub(crate) fn add_scaled<F: Float>(w: &mut [F], c: F, x: &[F]) {
    for (w, &x) in w.iter_mut().zip(x) {
        *w += c * x;
    }
}

/// `soft(v, c)` without a branch, exactly zero inside the threshold.
#[inline(always)]
pub(crate) fn shrink<F: Float>(v: F, c: F) -> F {
    // v less v clamped to [-c, c]: what is left of a number inside is 0, never -0.
    v + (-v.max(-c)).max(-c)
}
