//! Large tables in large pages.
//!
//! Coordinates are scattered over a table. If the table does not fit the caches, most of the cost of a lookup is the lookup of its page, and
//! a table has far fewer pages of 2 MiB than of 4 KiB. Linux gives large pages on request.

#![allow(unsafe_code)]

/// Room for `len` items, in large pages where the system has them and the room is worth it.
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let room = Vec::with_capacity(len);
    advise(&room);
    room
}

/// Allocates `len` zeros in large pages.
pub(crate) fn zeros<T: Clone + Default>(len: usize) -> Vec<T> {
    let mut zeros = with_capacity(len);
    zeros.resize(len, T::default());
    zeros
}

/// Smaller tables fit into few pages of any size.
#[cfg(target_os = "linux")]
const WORTH_IT: usize = 4 << 20;

#[cfg(target_os = "linux")]
fn advise<T>(room: &Vec<T>) {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(start: *mut c_void, len: usize, advice: c_int) -> c_int;
    }
    const HUGE_PAGE: usize = 2 << 20;
    const MADV_HUGEPAGE: c_int = 14;
    let bytes = room.capacity().saturating_mul(size_of::<T>());
    let start = (room.as_ptr() as usize).next_multiple_of(HUGE_PAGE);
    let end = (room.as_ptr() as usize + bytes) / HUGE_PAGE * HUGE_PAGE;
    if bytes >= WORTH_IT && start < end {
        // SAFETY: the range is inside of memory that belongs to the vector, and the advice does not change its contents. A system that does
        // not know the advice returns an error, which is ignored.
        unsafe { madvise(start as *mut c_void, end - start, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_room: &Vec<T>) {}

#[cfg(test)]
mod tests {
    #[test]
    fn room_is_room() {
        for len in [0, 1, 5 << 20] {
            let mut room: Vec<u64> = super::with_capacity(len);
            assert!(room.capacity() >= len);
            room.resize(len, 7);
            assert!(room.iter().all(|&v| v == 7));
        }
    }
}
