//! Prefetching: a hint to the processor that memory will be read soon.
//!
//! Coordinates are scattered over a table that does not fit the near caches; prefetching those of the next row while the present
//! row is computed hides most of the latency. Measured in `record/speed.md`.

#![allow(unsafe_code)]

/// Loads the memory at `place` into the cache, if the machine has an instruction for it. Changes no result.
///
/// ```
/// let table = [1.0, 2.0, 3.0];
/// parsimon_core::workspace::prefetch(&table[2]);
/// ```
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every x86-64; a prefetch reads and writes nothing the program can see, and the
        // address is that of a live reference.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Prefetches items of an array. An index may be beyond its end.
///
/// PERF: without a comparison. Indices beyond the end are rare, and the memory prefetched for them is not used.
#[inline(always)]
pub(crate) fn prefetch_items<T>(array: &[T], indices: &[u32]) {
    if array.is_empty() {
        return;
    }
    for &j in indices {
        let place = array.as_ptr().wrapping_add(j as usize);
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: SSE is part of every x86-64; a prefetch reads and writes nothing the program can see and does not fault, whatever the
            // address, which is computed with wrapping arithmetic and never read.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = place;
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn nothing_changes() {
        let place = [1.5f64; 3];
        super::prefetch(&place);
        assert_eq!(place, [1.5; 3]);
    }

    #[test]
    fn no_index_does_harm() {
        let array = [1.5f64; 3];
        super::prefetch_items(&array, &[0, 2, 3, 1 << 20, 1 << 31, u32::MAX]);
        super::prefetch_items(&array[..0], &[0, 7]);
        assert_eq!(array, [1.5; 3]);
    }
}
