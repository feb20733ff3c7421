//! Short rows put in order.

#![allow(unsafe_code)]

use parsimon_core::Chunk;

/// The longest row put in order here.
const SHORT: usize = 128;

/// Where rows are put in order.
#[derive(Debug)]
pub(crate) struct SortBuffers {
    keys: [i32; SHORT],
    ranks: [u32; SHORT],
    sorted: [u32; SHORT],
    moved: [f64; SHORT],
}

impl Default for SortBuffers {
    fn default() -> Self {
        Self { keys: [0; SHORT], ranks: [0; SHORT], sorted: [0; SHORT], moved: [0.0; SHORT] }
    }
}

/// Adds a short row of distinct indices to the row under construction, in the order of indices; false, and nothing is added,
/// where it is long or an index is met twice.
///
/// PERF: the place of an index is the number of smaller ones. Counting them takes as many steps as there are pairs, but eight
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
    let SortBuffers { keys, ranks, sorted, moved } = buffers;
    // INVARIANT: indices are below 2^31, so as signed numbers they have the same order. Those that are not would be
    // found out of place by the chunk, which looks again.
    keys.iter_mut().zip(indices).for_each(|(key, &index)| *key = index.cast_signed());
    let blocks = n.div_ceil(BLOCK);
    // Whole blocks are ranked; what stands behind the row is larger than anything in it.
    keys[n..blocks * BLOCK].fill(i32::MAX);
    rank(&keys.as_chunks().0[..blocks], &mut ranks.as_chunks_mut().0[..blocks]);
    // Of two equal ones neither is counted for the other, and the sum falls short.
    if ranks[..n].iter().sum::<u32>() as usize != n * n.saturating_sub(1) / 2 {
        return false;
    }
    for ((&rank, &index), &value) in ranks.iter().zip(indices).zip(values) {
        // INVARIANT: a rank is below the number of indices.
        let place = rank as usize % SHORT;
        (sorted[place], moved[place]) = (index, value);
    }
    chunk.push_features(&sorted[..n], &moved[..n]);
    true
}

const BLOCK: usize = 8;

/// How many keys are smaller than each.
fn rank(keys: &[[i32; BLOCK]], ranks: &mut [[u32; BLOCK]]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has what was asked for just now.
        return unsafe { rank_wide(keys, ranks) };
    }
    count(keys, ranks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rank_wide(keys: &[[i32; BLOCK]], ranks: &mut [[u32; BLOCK]]) {
    count(keys, ranks);
}

#[inline(always)]
fn count(keys: &[[i32; BLOCK]], ranks: &mut [[u32; BLOCK]]) {
    // One block of ranks stays in a register while all keys pass by.
    for (block, rank) in keys.iter().zip(ranks) {
        let mut sums = [0u32; BLOCK];
        for eight in keys {
            for key in eight {
                for lane in 0..BLOCK {
                    sums[lane] =
                        sums[lane].wrapping_sub(if *key < block[lane] { u32::MAX } else { 0 });
                }
            }
        }
        *rank = sums;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parsimon_core::Repeats;
    use proptest::prelude::*;

    proptest! {
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
