//! Inner loops. Elementwise loops are left to the compiler, which vectorizes them; sums have a fixed order and,
//! where the machine has AVX2, a hand-written copy of it.
//!
//! Rust does not reassociate floating-point sums, so term `i` goes to running sum `i % 32` by hand: enough to hide the
//! latency of addition. The compiler does not keep them in registers; with explicit instructions the
//! whole of `nlms` is three to four times faster (`record/`). Both ways give the same bits.

#![allow(unsafe_code)]

use crate::Float;
use crate::float::Reduce;

/// Running sums in blocks as wide as the widest registers used for `f32`.
type Sums<F> = [[F; WIDTH]; BLOCKS];
const WIDTH: usize = 8;
const BLOCKS: usize = 4;
const LANES: usize = WIDTH * BLOCKS;

/// Folds the running sums in a tree, the same on every machine.
#[inline(always)]
fn fold<F: Float>(s: &Sums<F>) -> F {
    let mut r = [F::ZERO; WIDTH];
    for k in 0..WIDTH {
        r[k] = (s[0][k] + s[2][k]) + (s[1][k] + s[3][k]);
    }
    ((r[0] + r[4]) + (r[2] + r[6])) + ((r[1] + r[5]) + (r[3] + r[7]))
}

/// The safe twin of every sum here, and what other machines run.
fn plain<F: Float>(a: &[F], b: &[F], term: impl Fn(F, F) -> F) -> F {
    let mut sums: Sums<F> = [[F::ZERO; WIDTH]; BLOCKS];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (a, b) in a_chunks.zip(b_chunks) {
        for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
            sums[i / WIDTH][i % WIDTH] += term(a, b);
        }
    }
    rest.fold(fold(&sums), |sum, (&a, &b)| sum + term(a, b))
}

/// Computes one sum in AVX2: whole chunks in registers, then the rest and the final fold as in the twin.
#[cfg(target_arch = "x86_64")]
macro_rules! avx2_sum {
    ($name:ident, $type:ident, $registers:literal, $load:ident, $store:ident, $zero:ident, $add:ident,
     |$a:ident, $b:ident| $wide:expr, $narrow:expr) => {
        #[target_feature(enable = "avx2")]
        pub(super) fn $name(a: &[$type], b: &[$type]) -> $type {
            use std::arch::x86_64::*;
            const WIDE: usize = LANES / $registers;
            let mut sums = [$zero(); $registers];
            let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
            let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
            for (a, b) in a_chunks.zip(b_chunks) {
                for k in 0..$registers {
                    // SAFETY: a chunk holds LANES numbers, and WIDE of them begin at k WIDE for every k.
                    let ($a, $b) = unsafe {
                        ($load(a.as_ptr().add(k * WIDE)), $load(b.as_ptr().add(k * WIDE)))
                    };
                    sums[k] = $add(sums[k], $wide);
                }
            }
            let mut lanes: Sums<$type> = [[0.0; WIDTH]; BLOCKS];
            for (k, sum) in sums.into_iter().enumerate() {
                // SAFETY: the lanes are LANES numbers in one piece, and WIDE of them begin at k WIDE for every k.
                unsafe { $store(lanes.as_flattened_mut().as_mut_ptr().add(k * WIDE), sum) };
            }
            rest.fold(fold(&lanes), |sum, (&a, &b)| sum + $narrow(a, b))
        }
    };
}

macro_rules! reduce {
    ($type:ident, $dot:ident, $total:ident, $norm1:ident) => {
        impl Reduce for $type {
            #[inline]
            fn dot(a: &[$type], b: &[$type]) -> $type {
                let len = a.len().min(b.len());
                let (a, b) = (&a[..len], &b[..len]);
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has AVX2, as checked above.
                    return unsafe { avx2::$dot(a, b) };
                }
                plain(a, b, |a, b| a * b)
            }
            #[inline]
            fn total(a: &[$type]) -> $type {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: as above.
                    return unsafe { avx2::$total(a, a) };
                }
                plain(a, a, |a, _| a)
            }
            #[inline]
            fn norm1(a: &[$type]) -> $type {
                #[cfg(target_arch = "x86_64")]
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: as above.
                    return unsafe { avx2::$norm1(a, a) };
                }
                plain(a, a, |a, _| a.abs())
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCKS, LANES, Sums, WIDTH, fold};

    avx2_sum!(
        dot_f32,
        f32,
        4,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_setzero_ps,
        _mm256_add_ps,
        |a, b| _mm256_mul_ps(a, b),
        |a: f32, b: f32| a * b
    );
    avx2_sum!(
        total_f32,
        f32,
        4,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_setzero_ps,
        _mm256_add_ps,
        |a, _b| a,
        |a: f32, _| a
    );
    avx2_sum!(
        norm1_f32,
        f32,
        4,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_setzero_ps,
        _mm256_add_ps,
        |a, _b| _mm256_andnot_ps(_mm256_set1_ps(-0.0), a),
        |a: f32, _| a.abs()
    );
    avx2_sum!(
        dot_f64,
        f64,
        8,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_setzero_pd,
        _mm256_add_pd,
        |a, b| _mm256_mul_pd(a, b),
        |a: f64, b: f64| a * b
    );
    avx2_sum!(
        total_f64,
        f64,
        8,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_setzero_pd,
        _mm256_add_pd,
        |a, _b| a,
        |a: f64, _| a
    );
    avx2_sum!(
        norm1_f64,
        f64,
        8,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_setzero_pd,
        _mm256_add_pd,
        |a, _b| _mm256_andnot_pd(_mm256_set1_pd(-0.0), a),
        |a: f64, _| a.abs()
    );
}

reduce!(f32, dot_f32, total_f32, norm1_f32);
reduce!(f64, dot_f64, total_f64, norm1_f64);

/// `a.b`, over the shorter one's length.
#[inline]
pub(crate) fn dot<F: Float>(a: &[F], b: &[F]) -> F {
    F::dot(a, b)
}

/// Sum of all lanes.
#[inline]
pub(crate) fn total<F: Float>(a: &[F]) -> F {
    F::total(a)
}

/// The sum of the magnitudes.
#[inline]
pub(crate) fn norm1<F: Float>(a: &[F]) -> F {
    F::norm1(a)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn agree<F: Float>() {
        for len in [0, 1, 7, 8, 31, 32, 33, 64, 1003] {
            let wave = |scale: f64| {
                move |k: usize| F::from_f64((k as f64 * scale).sin() * 10f64.powi(k as i32 % 9 - 4))
            };
            let a: Vec<F> = (0..len).map(wave(0.37)).collect();
            let b: Vec<F> = (0..len).map(wave(1.21)).collect();
            assert_eq!(
                dot(&a, &b).to_f64().to_bits(),
                plain(&a, &b, |a, b| a * b).to_f64().to_bits()
            );
            assert_eq!(total(&a).to_f64().to_bits(), plain(&a, &a, |a, _| a).to_f64().to_bits());
            assert_eq!(
                norm1(&a).to_f64().to_bits(),
                plain(&a, &a, |a, _| a.abs()).to_f64().to_bits()
            );
        }
    }

    #[test]
    fn both_ways_give_the_same_bits() {
        agree::<f32>();
        agree::<f64>();
    }

    #[test]
    fn nothing_is_left_inside_the_threshold() {
        for (v, want) in [(0.5, 0.0), (-0.5, 0.0), (-1.5, -0.5), (1.5, 0.5), (-1.0, 0.0)] {
            let left: f64 = shrink(v, 1.0);
            assert_eq!(left.to_bits(), f64::to_bits(want));
        }
    }
}
