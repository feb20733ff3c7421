//! An allocator that fails beyond a limit, in debug builds: tests run every command under it, with input made to take all
//! memory.
//!
//! `PARSIMON_FAULT_ALLOC=BYTES` makes an allocation fail that would raise the total above this number of bytes. A failed allocation
//! ends the process with SIGABRT, so a command that checks sizes before it allocates ends with its message, and one that does
//! not is found out. A release build has the allocator of the system.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// Sets the limit from the environment.
pub(crate) fn limit() {
    let bytes = std::env::var("PARSIMON_FAULT_ALLOC").ok().and_then(|text| text.parse().ok());
    LIMIT.store(bytes.unwrap_or(usize::MAX), Ordering::Relaxed);
}

/// Counts more bytes, unless they are too many.
fn take(bytes: usize) -> bool {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    let fits = live <= LIMIT.load(Ordering::Relaxed);
    if !fits {
        LIVE.fetch_sub(bytes, Ordering::Relaxed);
    }
    fits
}

fn give_back(bytes: usize) {
    LIVE.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: memory comes from the allocator of the system and goes back to it with the layout it came with; null, for a failed
// allocation, is what the trait asks for. Counting allocates nothing.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return null_mut();
        }
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !take(size) {
            return null_mut();
        }
        // SAFETY: as above; the block came from the system.
        let moved = unsafe { System.realloc(block, layout, size) };
        give_back(if moved.is_null() { size } else { layout.size() });
        moved
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        give_back(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}
