//! The loops with the instructions of AVX2. Each has a safe twin in the module above, and gives the same bits.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m256, __m256d, __m256i, _CMP_GT_OQ, _CMP_LE_OQ, _mm_loadu_ps, _mm256_add_epi32,
    _mm256_add_pd, _mm256_add_ps, _mm256_and_pd, _mm256_and_ps, _mm256_castsi256_pd,
    _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmp_pd, _mm256_cmp_ps, _mm256_cvtpd_ps,
    _mm256_cvtps_pd, _mm256_extracti128_si256, _mm256_i32gather_pd, _mm256_i32gather_ps,
    _mm256_loadu_pd, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_max_pd, _mm256_max_ps,
    _mm256_min_epu32, _mm256_min_pd, _mm256_min_ps, _mm256_movemask_pd, _mm256_movemask_ps,
    _mm256_mul_pd, _mm256_mul_ps, _mm256_set_m128, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_set1_pd, _mm256_set1_ps, _mm256_setzero_pd, _mm256_setzero_ps, _mm256_storeu_pd,
    _mm256_storeu_ps,
};

use std::borrow::Cow;

use super::{ArrayIndex, ArrayValue, Rows, Weights};
use crate::Float;
use crate::sums::{LANES, fold_lanes};

/// Conversion of eight items to eight ids.
pub trait EightIds: Sized {
    /// # Safety
    ///
    /// The machine has AVX2.
    #[doc(hidden)]
    unsafe fn ids(items: &[Self; LANES]) -> __m256i;
}

impl EightIds for u32 {
    #[inline(always)]
    unsafe fn ids(items: &[u32; LANES]) -> __m256i {
        // SAFETY: eight items are 32 bytes.
        unsafe { _mm256_loadu_si256(items.as_ptr().cast()) }
    }
}

impl EightIds for i32 {
    #[inline(always)]
    unsafe fn ids(items: &[i32; LANES]) -> __m256i {
        // SAFETY: eight items are 32 bytes.
        unsafe { _mm256_add_epi32(_mm256_loadu_si256(items.as_ptr().cast()), _mm256_set1_epi32(1)) }
    }
}

impl EightIds for i64 {
    #[inline(always)]
    unsafe fn ids(items: &[i64; LANES]) -> __m256i {
        // SAFETY: eight ids are 32 bytes.
        unsafe { _mm256_loadu_si256(items.map(ArrayIndex::id).as_ptr().cast()) }
    }
}

/// Conversion of eight items to eight values, and the range of their magnitudes.
pub trait EightValues: Sized {
    /// The smallest and the largest magnitudes so far.
    #[doc(hidden)]
    type Seen: Copy;
    /// # Safety
    ///
    /// The machine has AVX2.
    #[doc(hidden)]
    unsafe fn nothing() -> Self::Seen;
    /// # Safety
    ///
    /// The machine has AVX2.
    #[doc(hidden)]
    unsafe fn see(items: &[Self; LANES], seen: Self::Seen) -> Self::Seen;
    /// Whether the smallest is above zero and the largest within the limit. NaN magnitudes are ignored.
    ///
    /// # Safety
    ///
    /// The machine has AVX2.
    #[doc(hidden)]
    unsafe fn are_good(seen: Self::Seen, limit: f64) -> bool;
    /// # Safety
    ///
    /// The machine has AVX2.
    #[doc(hidden)]
    unsafe fn wide8(items: &[Self; LANES]) -> [__m256d; 2];
    /// # Safety
    ///
    /// The machine has AVX2.
    #[doc(hidden)]
    unsafe fn short8(items: &[Self; LANES]) -> __m256;
}

impl EightValues for f64 {
    type Seen = [__m256d; 2];
    #[inline(always)]
    unsafe fn nothing() -> Self::Seen {
        // SAFETY: by the promise of the caller.
        unsafe { [_mm256_set1_pd(f64::INFINITY), _mm256_setzero_pd()] }
    }
    #[inline(always)]
    unsafe fn see(items: &[f64; LANES], [low, high]: Self::Seen) -> Self::Seen {
        // SAFETY: by the promise of the caller.
        unsafe {
            let sign = _mm256_castsi256_pd(_mm256_set1_epi64x(i64::MAX));
            let [a, b] = Self::wide8(items);
            let (a, b) = (_mm256_and_pd(a, sign), _mm256_and_pd(b, sign));
            [_mm256_min_pd(low, _mm256_min_pd(a, b)), _mm256_max_pd(high, _mm256_max_pd(a, b))]
        }
    }
    #[inline(always)]
    unsafe fn are_good([low, high]: Self::Seen, limit: f64) -> bool {
        // SAFETY: by the promise of the caller.
        unsafe {
            let above = _mm256_cmp_pd::<_CMP_GT_OQ>(low, _mm256_setzero_pd());
            let below = _mm256_cmp_pd::<_CMP_LE_OQ>(high, _mm256_set1_pd(limit));
            _mm256_movemask_pd(_mm256_and_pd(above, below)) == 0b1111
        }
    }
    #[inline(always)]
    unsafe fn wide8(items: &[f64; LANES]) -> [__m256d; 2] {
        // SAFETY: four numbers begin at 0 and at 4.
        unsafe { [_mm256_loadu_pd(items.as_ptr()), _mm256_loadu_pd(items.as_ptr().add(4))] }
    }
    #[inline(always)]
    unsafe fn short8(items: &[f64; LANES]) -> __m256 {
        // SAFETY: by the promise of the caller.
        unsafe {
            let [a, b] = Self::wide8(items);
            _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a))
        }
    }
}

impl EightValues for f32 {
    type Seen = [__m256; 2];
    #[inline(always)]
    unsafe fn nothing() -> Self::Seen {
        // SAFETY: by the promise of the caller.
        unsafe { [_mm256_set1_ps(f32::INFINITY), _mm256_setzero_ps()] }
    }
    #[inline(always)]
    unsafe fn see(items: &[f32; LANES], [low, high]: Self::Seen) -> Self::Seen {
        // SAFETY: by the promise of the caller.
        unsafe {
            let sign = _mm256_castsi256_ps(_mm256_set1_epi32(i32::MAX));
            let a = _mm256_and_ps(Self::short8(items), sign);
            [_mm256_min_ps(low, a), _mm256_max_ps(high, a)]
        }
    }
    #[inline(always)]
    unsafe fn are_good([low, high]: Self::Seen, limit: f64) -> bool {
        let mut short = limit as f32;
        if short.wide() > limit {
            short = short.next_down();
        }
        // SAFETY: by the promise of the caller.
        unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(low, _mm256_setzero_ps());
            let below = _mm256_cmp_ps::<_CMP_LE_OQ>(high, _mm256_set1_ps(short));
            _mm256_movemask_ps(_mm256_and_ps(above, below)) == 0xFF
        }
    }
    #[inline(always)]
    unsafe fn wide8(items: &[f32; LANES]) -> [__m256d; 2] {
        // SAFETY: four numbers begin at 0 and at 4.
        unsafe {
            let halves = [_mm_loadu_ps(items.as_ptr()), _mm_loadu_ps(items.as_ptr().add(4))];
            [_mm256_cvtps_pd(halves[0]), _mm256_cvtps_pd(halves[1])]
        }
    }
    #[inline(always)]
    unsafe fn short8(items: &[f32; LANES]) -> __m256 {
        // SAFETY: eight numbers are 32 bytes.
        unsafe { _mm256_loadu_ps(items.as_ptr()) }
    }
}

/// A precision of weights: how eight of them are loaded, and products added up.
trait Lane: Float {
    type Sums: Copy;
    unsafe fn zero() -> Self::Sums;
    /// Adds the products of weights anywhere in an array that is not empty, the last item standing for all beyond.
    unsafe fn add_apart<V: ArrayValue>(
        sums: Self::Sums,
        array: &[Self],
        ids: __m256i,
        values: &[V; LANES],
    ) -> Self::Sums;
    /// Adds the products of weights in a row.
    unsafe fn add_together<V: ArrayValue>(
        sums: Self::Sums,
        weights: &[Self; LANES],
        values: &[V; LANES],
    ) -> Self::Sums;
    unsafe fn lanes(sums: Self::Sums) -> [Self; LANES];
}

/// Ids below the length of an array, or the last place.
#[inline(always)]
unsafe fn inside<T>(array: &[T], ids: __m256i) -> __m256i {
    // INVARIANT: arrays of weights are not empty and shorter than 2^31 (`ARRAY_LIMIT`): a place is a positive i32.
    let last = (array.len() - 1) as i32;
    // SAFETY: by the promise of the caller.
    unsafe { _mm256_min_epu32(ids, _mm256_set1_epi32(last)) }
}

impl Lane for f64 {
    type Sums = [__m256d; 2];
    #[inline(always)]
    unsafe fn zero() -> Self::Sums {
        // SAFETY: by the promise of the caller.
        unsafe { [_mm256_setzero_pd(); 2] }
    }
    #[inline(always)]
    unsafe fn add_apart<V: ArrayValue>(
        [a, b]: Self::Sums,
        array: &[f64],
        ids: __m256i,
        values: &[V; LANES],
    ) -> Self::Sums {
        // SAFETY: every place is inside of the array.
        unsafe {
            let places = inside(array, ids);
            let (low, high) =
                (_mm256_castsi256_si128(places), _mm256_extracti128_si256::<1>(places));
            let (v, u) = (
                _mm256_i32gather_pd::<8>(array.as_ptr(), low),
                _mm256_i32gather_pd::<8>(array.as_ptr(), high),
            );
            let [x, y] = V::wide8(values);
            [_mm256_add_pd(a, _mm256_mul_pd(v, x)), _mm256_add_pd(b, _mm256_mul_pd(u, y))]
        }
    }
    #[inline(always)]
    unsafe fn add_together<V: ArrayValue>(
        [a, b]: Self::Sums,
        weights: &[f64; LANES],
        values: &[V; LANES],
    ) -> Self::Sums {
        // SAFETY: by the promise of the caller.
        unsafe {
            let ([v, u], [x, y]) = (f64::wide8(weights), V::wide8(values));
            [_mm256_add_pd(a, _mm256_mul_pd(v, x)), _mm256_add_pd(b, _mm256_mul_pd(u, y))]
        }
    }
    #[inline(always)]
    unsafe fn lanes([a, b]: Self::Sums) -> [f64; LANES] {
        let mut lanes = [0.0; LANES];
        // SAFETY: four numbers begin at 0 and at 4.
        unsafe {
            _mm256_storeu_pd(lanes.as_mut_ptr(), a);
            _mm256_storeu_pd(lanes.as_mut_ptr().add(4), b);
        }
        lanes
    }
}

impl Lane for f32 {
    type Sums = __m256;
    #[inline(always)]
    unsafe fn zero() -> Self::Sums {
        // SAFETY: by the promise of the caller.
        unsafe { _mm256_setzero_ps() }
    }
    #[inline(always)]
    unsafe fn add_apart<V: ArrayValue>(
        sums: Self::Sums,
        array: &[f32],
        ids: __m256i,
        values: &[V; LANES],
    ) -> Self::Sums {
        // SAFETY: every place is inside of the array.
        unsafe {
            let weights = _mm256_i32gather_ps::<4>(array.as_ptr(), inside(array, ids));
            _mm256_add_ps(sums, _mm256_mul_ps(weights, V::short8(values)))
        }
    }
    #[inline(always)]
    unsafe fn add_together<V: ArrayValue>(
        sums: Self::Sums,
        weights: &[f32; LANES],
        values: &[V; LANES],
    ) -> Self::Sums {
        // SAFETY: by the promise of the caller.
        unsafe { _mm256_add_ps(sums, _mm256_mul_ps(f32::short8(weights), V::short8(values))) }
    }
    #[inline(always)]
    unsafe fn lanes(sums: Self::Sums) -> [f32; LANES] {
        let mut lanes = [0.0; LANES];
        // SAFETY: eight numbers are 32 bytes.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sums) };
        lanes
    }
}

/// The margin of a row; NaN if a value is zero or beyond the limit and `CHECKS` is set. The margin of a row with a value that is no
/// number is not finite in any case.
#[inline(always)]
unsafe fn margin<F: Lane, I: ArrayIndex, V: ArrayValue, const CHECKS: bool>(
    (ids, values): (&[I], &[V]),
    (bias, array): (f64, &[F]),
    limit: f64,
) -> f64 {
    let (id_blocks, ids) = ids.as_chunks::<LANES>();
    let (value_blocks, values) = values.as_chunks::<LANES>();
    // SAFETY: by the promise of the caller.
    let (mut sums, mut is_good) = unsafe {
        let (mut sums, mut seen) = (F::zero(), V::nothing());
        for (ids, values) in id_blocks.iter().zip(value_blocks) {
            sums = F::add_apart(sums, array, I::ids(ids), values);
            if CHECKS {
                seen = V::see(values, seen);
            }
        }
        (F::lanes(sums), V::are_good(seen, limit))
    };
    for (sum, (j, v)) in sums.iter_mut().zip(ids.iter().zip(values)) {
        let weight = array.get(j.id() as usize).copied().unwrap_or(F::ZERO);
        *sum += weight * F::from_f64(v.wide());
        is_good &= (v.wide().abs() > 0.0) & (v.wide().abs() <= limit);
    }
    let margin = (fold_lanes(sums) + F::from_f64(bias)).to_f64();
    if CHECKS && !is_good { f64::NAN } else { margin }
}

/// Like the function above, for dense cells, which are the features from 1 on.
#[inline(always)]
unsafe fn dense_margin<F: Lane, V: ArrayValue>(
    cells: &[V],
    (bias, weights): (f64, &[F]),
    limit: f64,
) -> f64 {
    let (cell_blocks, cells) = cells.as_chunks::<LANES>();
    let (weight_blocks, weights) = weights.as_chunks::<LANES>();
    // SAFETY: by the promise of the caller.
    let (mut sums, mut is_good) = unsafe {
        let (mut sums, mut seen) = (F::zero(), V::nothing());
        for (weights, cells) in weight_blocks.iter().zip(cell_blocks) {
            sums = F::add_together(sums, weights, cells);
            seen = V::see(cells, seen);
        }
        (F::lanes(sums), V::are_good(seen, limit))
    };
    for (sum, (&weight, v)) in sums.iter_mut().zip(weights.iter().zip(cells)) {
        *sum += weight * F::from_f64(v.wide());
        is_good &= (v.wide().abs() > 0.0) & (v.wide().abs() <= limit);
    }
    let margin = (fold_lanes(sums) + F::from_f64(bias)).to_f64();
    if is_good { margin } else { f64::NAN }
}

#[target_feature(enable = "avx2")]
pub(super) fn score<R: Rows>(
    heads: &[(f64, Weights)],
    limit: f64,
    rows: &R,
    margins: &mut Vec<f64>,
) -> usize {
    if !R::ORDERED {
        if heads.iter().any(|(_, weights)| matches!(weights, Weights::Map(..))) {
            return super::plain(heads, limit, rows, margins);
        }
        let is_ordered = rows.ids_are_ordered();
        for i in 0..rows.len() {
            let start = margins.len();
            for (bias, weights) in heads {
                // SAFETY: the function is called where the machine has AVX2.
                margins.push(unsafe {
                    match weights {
                        Weights::Array(a) => {
                            margin::<_, _, _, true>(rows.row(i), (*bias, a), limit)
                        }
                        Weights::Short(a) => {
                            margin::<_, _, _, true>(rows.row(i), (*bias, a), limit)
                        }
                        Weights::Map(..) => f64::NAN,
                    }
                });
            }
            let is_good = margins[start..].iter().fold(true, |all, m| all & m.is_finite());
            if !is_good || !(is_ordered || rows.row_is_ordered(i)) {
                margins.truncate(start);
                return i;
            }
        }
        return rows.len();
    }
    for i in 0..rows.len() {
        for (bias, weights) in heads {
            // SAFETY: the function is called where the machine has AVX2.
            margins.push(unsafe {
                match weights {
                    Weights::Array(a) => margin::<_, _, _, false>(rows.row(i), (*bias, a), limit),
                    Weights::Short(a) => margin::<_, _, _, false>(rows.row(i), (*bias, a), limit),
                    Weights::Map(..) => {
                        let (ids, values) = rows.row(i);
                        weights.margin(ids.iter().map(|j| j.id()).zip(values), *bias)
                    }
                }
            });
        }
    }
    rows.len()
}

/// The weights of the features from 1 on, as many as there are columns.
enum Columns<'a> {
    Wide(Cow<'a, [f64]>),
    Short(Cow<'a, [f32]>),
}

impl<'a> Columns<'a> {
    /// `None` if the weights are not in an array.
    fn of(weights: &'a Weights, columns: usize) -> Option<Self> {
        match weights {
            Weights::Array(array) => Some(Columns::Wide(first(array, columns))),
            Weights::Short(array) => Some(Columns::Short(first(array, columns))),
            Weights::Map(..) => None,
        }
    }
}

/// One item for each column, from the second on; missing items are zero.
fn first<F: Float>(array: &[F], columns: usize) -> Cow<'_, [F]> {
    array.get(1..=columns).map_or_else(
        || {
            let mut weights = array.get(1..).unwrap_or_default().to_vec();
            weights.resize(columns, F::ZERO);
            Cow::Owned(weights)
        },
        Cow::Borrowed,
    )
}

#[target_feature(enable = "avx2")]
pub(super) fn score_dense<V: ArrayValue>(
    heads: &[(f64, Weights)],
    limit: f64,
    (cells, columns): (&[V], usize),
    margins: &mut Vec<f64>,
) -> usize {
    let mut of_columns = Vec::with_capacity(heads.len());
    for (bias, weights) in heads {
        match Columns::of(weights, columns) {
            Some(weights) => of_columns.push((*bias, weights)),
            None => return super::plain_dense(heads, limit, (cells, columns), margins),
        }
    }
    for (i, row) in cells.chunks_exact(columns).enumerate() {
        let start = margins.len();
        for (bias, weights) in &of_columns {
            // SAFETY: the function is called where the machine has AVX2.
            margins.push(unsafe {
                match weights {
                    Columns::Wide(weights) => dense_margin(row, (*bias, &**weights), limit),
                    Columns::Short(weights) => dense_margin(row, (*bias, &**weights), limit),
                }
            });
        }
        if !margins[start..].iter().fold(true, |all, m| all & m.is_finite()) {
            margins.truncate(start);
            return i;
        }
    }
    cells.len() / columns
}
