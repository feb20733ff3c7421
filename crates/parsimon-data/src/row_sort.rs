//! Short rows put in order.

#![allow(unsafe_code)]

use parsimon_core::Chunk;

/// The longest row put in order here.
const SHORT: usize = 128;

/// Buffers of the sort.
#[derive(Debug)]
pub(crate) struct SortBuffers {
    keys: [i32; SHORT],
    ranks: [u32; SHORT],
}

impl Default for SortBuffers {
    fn default() -> Self {
        Self { keys: [0; SHORT], ranks: [0; SHORT] }
    }
}

/// Adds a short row of distinct indices to the row under construction, in the order of indices; false, and nothing is added,
/// where it is long or an index is met twice.
///
/// PERF: the rank of an index is the number of smaller ones. Counting takes one step per pair, but eight
/// at a time and without a branch; a sort guesses wrong at every other comparison.
pub(crate) fn push_distinct(
    indices: &[u32],
    values: &[f64],
    buffers: &mut SortBuffers,
    chunk: &mut Chunk,
) -> bool {
    if indices.len() > SHORT {
        return false;
    }
    let n = indices.len();
    let SortBuffers { keys, ranks } = buffers;
    // INVARIANT: indices are below 2^31, so as signed numbers they have the same order. Those that are not would be
    // found out of place by the chunk, which looks again.
    keys.iter_mut().zip(indices).for_each(|(key, &index)| *key = index.cast_signed());
    let blocks = n.div_ceil(BLOCK);
    // Whole blocks are ranked; the padding behind the row is larger than any key of the row.
    keys[n..blocks * BLOCK].fill(i32::MAX);
    rank(&keys.as_chunks().0[..blocks], &mut ranks.as_chunks_mut().0[..blocks]);
    // Equal keys are not counted for each other, and the sum is too small.
    if ranks[..n].iter().sum::<u32>() as usize != n * n.saturating_sub(1) / 2 {
        return false;
    }
    let (sorted, moved) = chunk.push_blank(n);
    for ((&rank, &index), &value) in ranks.iter().zip(indices).zip(values) {
        // INVARIANT: a rank is below the number of indices.
        if let (Some(to), Some(moved)) =
            (sorted.get_mut(rank as usize), moved.get_mut(rank as usize))
        {
            (*to, *moved) = (index, value);
        }
    }
    true
}

const BLOCK: usize = 8;

/// Number of keys that are smaller than each.
fn rank(keys: &[[i32; BLOCK]], ranks: &mut [[u32; BLOCK]]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what was asked for just now.
        return unsafe { rank_wide(keys, ranks) };
    }
    count(keys, ranks);
}

/// PERF: a few blocks of ranks stay in registers while all keys pass by; each key is brought there once for all of them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rank_wide(keys: &[[i32; BLOCK]], ranks: &mut [[u32; BLOCK]]) {
    let (fives, few) = keys.as_chunks::<5>();
    let (to, to_few) = ranks.as_chunks_mut::<5>();
    for (five, to) in fives.iter().zip(to) {
        rank_among(five, keys, to);
    }
    let (pairs, one) = few.as_chunks::<2>();
    let (to, to_one) = to_few.as_chunks_mut::<2>();
    for (pair, to) in pairs.iter().zip(to) {
        rank_among(pair, keys, to);
    }
    if let (Some(one), Some(to)) = (one.first_chunk::<1>(), to_one.first_chunk_mut()) {
        rank_among(one, keys, to);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
#[expect(clippy::cast_ptr_alignment, reason = "loads and stores need no alignment")]
fn rank_among<const N: usize>(
    blocks: &[[i32; BLOCK]; N],
    keys: &[[i32; BLOCK]],
    ranks: &mut [[u32; BLOCK]; N],
) {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpgt_epi32, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_setzero_si256,
        _mm256_storeu_si256, _mm256_sub_epi32,
    };
    let (mut own, mut sums) = ([_mm256_setzero_si256(); N], [_mm256_setzero_si256(); N]);
    for (own, block) in own.iter_mut().zip(blocks) {
        // SAFETY: a block is 32 bytes, and the load needs no alignment.
        *own = unsafe { _mm256_loadu_si256(std::ptr::from_ref(block).cast::<__m256i>()) };
    }
    for &key in keys.as_flattened() {
        let key = _mm256_set1_epi32(key);
        for n in 0..N {
            // Lanes with a larger key are -1.
            sums[n] = _mm256_sub_epi32(sums[n], _mm256_cmpgt_epi32(own[n], key));
        }
    }
    for (rank, sum) in ranks.iter_mut().zip(sums) {
        // SAFETY: as above, for a store.
        unsafe { _mm256_storeu_si256(std::ptr::from_mut(rank).cast::<__m256i>(), sum) };
    }
}

/// Portable version of the function above.
fn count(keys: &[[i32; BLOCK]], ranks: &mut [[u32; BLOCK]]) {
    for (block, rank) in keys.iter().zip(ranks) {
        *rank = block.map(|own| keys.as_flattened().iter().map(|key| u32::from(*key < own)).sum());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_core::Repeats;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_and_narrow_give_the_same_ranks(row in proptest::collection::vec(any::<i32>(), 0..150)) {
            let keys = row.as_chunks().0;
            let mut ranks = [vec![[0; BLOCK]; keys.len()], vec![[0; BLOCK]; keys.len()]];
            rank(keys, &mut ranks[0]);
            count(keys, &mut ranks[1]);
            prop_assert_eq!(&ranks[0], &ranks[1]);
        }

        #[test]
        fn the_order_is_that_of_a_sort(row in proptest::collection::vec((0u32..2000, -9.0..9.0f64), 0..150)) {
            let (indices, values): (Vec<u32>, Vec<f64>) = row.iter().copied().unzip();
            let mut chunk = Chunk::new();
            let done = push_distinct(&indices, &values, &mut SortBuffers::default(), &mut chunk);
            let mut sorted = row.clone();
            sorted.sort_by_key(|f| f.0);
            let distinct = sorted.windows(2).all(|pair| pair[0].0 < pair[1].0);
            prop_assert_eq!(done, distinct && row.len() <= SHORT);
            if done {
                chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
                sorted.retain(|f| f.1 != 0.0);
                prop_assert_eq!(chunk.row(0).iter().collect::<Vec<_>>(), sorted);
            } else {
                prop_assert!(chunk.open_row().0.is_empty());
            }
        }
    }
}
