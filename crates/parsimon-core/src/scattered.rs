//! Copies of items at arbitrary places of an array, with one bounds check for all of them.
//!
//! A comparison and a branch for each item are a third of the instructions of such a copy, and keep the compiler from copying several
//! items per turn of the loop. The largest index is found first, several indices at a time. Measured in `record/hot-paths.md`.

#![allow(unsafe_code)]

/// Copies the items at some indices, as many as there is room for. Returns `false`, with nothing copied, if an index is beyond the end.
#[inline(always)]
#[must_use]
pub(crate) fn gather<T: Copy>(array: &[T], indices: &[u32], items: &mut [T]) -> bool {
    if !are_inside(array, indices) {
        return false;
    }
    for (item, &j) in items.iter_mut().zip(indices) {
        // SAFETY: all indices were compared with the length just now, and the array is borrowed since.
        *item = unsafe { *array.get_unchecked(j as usize) };
    }
    true
}

/// Writes items to some indices, in order. Returns `false`, with nothing changed, if an index is beyond the end.
#[inline(always)]
#[must_use]
pub(crate) fn scatter<T: Copy>(array: &mut [T], indices: &[u32], items: &[T]) -> bool {
    if !are_inside(array, indices) {
        return false;
    }
    for (item, &j) in items.iter().zip(indices) {
        // SAFETY: as in `gather`.
        unsafe { *array.get_unchecked_mut(j as usize) = *item };
    }
    true
}

#[inline(always)]
fn are_inside<T>(array: &[T], indices: &[u32]) -> bool {
    let largest = indices.iter().fold(0, |largest: u32, &j| largest.max(j));
    indices.is_empty() || (largest as usize) < array.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every index in turn is inside, the last, the first beyond the end and far beyond it, in rows of all lengths around those of a
    /// wide register.
    #[test]
    fn items_are_those_of_a_checked_copy() {
        const LEN: u32 = 50;
        for len in 0..40 {
            for (odd, at) in [3, LEN - 1, LEN, u32::MAX]
                .into_iter()
                .flat_map(|j| (0..len.max(1)).map(move |at| (j, at)))
            {
                let mut indices: Vec<u32> = (0..len as u32).map(|k| k * 7 % LEN).collect();
                if let Some(j) = indices.get_mut(at) {
                    *j = odd;
                }
                let mut array: Vec<u64> = (0..u64::from(LEN)).map(|k| k * k).collect();
                let (mut twin, inside) = (array.clone(), indices.iter().all(|&j| j < LEN));
                let mut items = vec![u64::MAX; len];
                assert_eq!(gather(&array, &indices, &mut items), inside);
                let checked =
                    indices.iter().map(|&j| if inside { array[j as usize] } else { u64::MAX });
                assert_eq!(items, checked.collect::<Vec<_>>());
                let items: Vec<u64> = (1000..).take(len).collect();
                assert_eq!(scatter(&mut array, &indices, &items), inside);
                if inside {
                    indices.iter().zip(&items).for_each(|(&j, item)| twin[j as usize] = *item);
                }
                assert_eq!(array, twin);
            }
        }
        let empty: [u64; 0] = [];
        assert!(gather(&empty, &[], &mut []) && !gather(&empty, &[0], &mut [0]));
        assert!(!scatter(&mut [0; 0], &[0], &[1]));
    }

    #[test]
    fn fewer_items_than_indices_are_copied_as_far_as_they_go() {
        let mut items = [0; 2];
        assert!(gather(&[5, 6, 7], &[2, 0, 1], &mut items));
        assert_eq!(items, [7, 5]);
    }
}
