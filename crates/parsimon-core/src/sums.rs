//! Sums in a fixed order, so that every caller gets the same bits.

use crate::Float;

/// The number of running sums in a dot product.
///
/// Rust does not reassociate floating-point sums, so the order is fixed by hand, here and in
/// [`sum_lanes`]: term `k` goes to sum `k % 8`. The bits then depend neither on the width of the machine's vectors
/// nor on who adds.
pub(crate) const LANES: usize = 8;

/// The running sums added up.
#[inline(always)]
pub(crate) fn fold_lanes<F: Float>(s: [F; LANES]) -> F {
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

/// `w.x`.
#[inline(always)]
pub(crate) fn dot<F: Float>(w: &[F], x: &[F]) -> F {
    let mut sums = [F::ZERO; LANES];
    let (w_chunks, x_chunks) = (w.chunks_exact(LANES), x.chunks_exact(LANES));
    let rest = w_chunks.remainder().iter().zip(x_chunks.remainder());
    for (w, x) in w_chunks.zip(x_chunks) {
        for k in 0..LANES {
            sums[k] += w[k] * x[k];
        }
    }
    for (sum, (&w, &x)) in sums.iter_mut().zip(rest) {
        *sum += w * x;
    }
    fold_lanes(sums)
}

/// Adds up in the order of [`dot`].
pub(crate) fn sum_lanes<F: Float>(terms: impl Iterator<Item = F>) -> F {
    let mut sums = [F::ZERO; LANES];
    for (k, term) in terms.enumerate() {
        sums[k % LANES] += term;
    }
    fold_lanes(sums)
}
