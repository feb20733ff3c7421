//! An allocator that counts, for tests that a loop allocates nothing.
//!
//! A test program makes it its allocator and asks for the count of some work:
//!
//! ```
//! use parsimon_testing::allocation::{Counting, allocations};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//!
//! assert_eq!(allocations(|| drop(vec![1u8])), 1);
//! assert_eq!(allocations(|| ()), 0);
//! ```
//!
//! [`peak`] gives the most bytes that some work held at a time.

#![allow(
    unsafe_code,
    reason = "counting allocations means being the allocator, and that is an unsafe trait"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Counts this thread only: the test harness allocates in other threads.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    // Memory that one thread takes and another gives back leaves both counts wrong, and the first one too high.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, with a count of what each thread takes from it.
#[derive(Debug)]
pub struct Counting;

fn count(bytes: usize) {
    ALLOCATIONS.with(|n| n.set(n.get() + 1));
    HELD.with(|held| {
        held.set(held.get().saturating_add_unsigned(bytes as u64));
        PEAK.with(|peak| peak.set(peak.get().max(held.get())));
    });
}

fn release(bytes: usize) {
    HELD.with(|held| held.set(held.get().saturating_sub_unsigned(bytes as u64)));
}

// SAFETY: every call is passed on to the system's allocator as it came; the counter is a plain cell of this
// thread, without a destructor, and touching it allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are those that the system's allocator needs.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        release(layout.size());
        count(size);
        // SAFETY: as above; the memory came from the system's allocator.
        unsafe { System.realloc(p, layout, size) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        release(layout.size());
        // SAFETY: as above; the memory came from the system's allocator.
        unsafe { System.dealloc(p, layout) }
    }
}

/// Counts the allocations of this thread during some work. [`Counting`] must be the program's allocator.
pub fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

/// The most bytes that this thread held at a time during some work, beyond what it held before. [`Counting`] must be the
/// program's allocator.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    let made = work();
    (made, PEAK.with(Cell::get).saturating_sub(before).unsigned_abs())
}
