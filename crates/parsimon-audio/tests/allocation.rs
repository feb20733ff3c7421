//! Pushing does not allocate: after a first piece, another of the same length takes nothing from the allocator. A program of
//! its own, for the allocator that counts is that of the whole process.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![allow(
    unsafe_code,
    reason = "counting allocations means being the allocator, and that is an unsafe trait"
)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use parsimon_audio::{Canceller, Config};

thread_local! {
    // Of this thread alone: the test harness allocates in others when it likes.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    ALLOCATIONS.with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator as it came; the counter is a plain cell of this
// thread, without a destructor, and touching it allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { System.realloc(p, layout, size) }
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { System.dealloc(p, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn pushing_does_not_allocate() {
    let far = common::speech(64_000, 16_000, 1);
    let loud: Vec<f32> = common::noise(64_000, 2).iter().map(|v| 3.0 * v).collect();
    let echo = common::convolve(&far, &common::room(100, 5, 3));
    let near = [&echo[..32_000], &loud[32_000..]].concat();
    let mut canceller = Canceller::new(Config::default()).unwrap();
    canceller.push(&far[..160], &near[..160]);
    let before = ALLOCATIONS.with(Cell::get);
    for (x, d) in far[160..].chunks(160).zip(near[160..].chunks(160)) {
        canceller.push(x, d);
    }
    assert_eq!(ALLOCATIONS.with(Cell::get), before);
    let status = canceller.status();
    assert!(
        status.takeovers > 0 && status.active > 0,
        "the rare paths were taken, too: {status:?}"
    );
}
