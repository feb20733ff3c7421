//! Pushing does not allocate: after a first piece, another of the same length takes nothing from the allocator. A program of
//! its own, for the allocator that counts is that of the whole process.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
mod common;

use parsimon_audio::{Canceller, Config};
use parsimon_testing::allocation::{Counting, allocations};

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn pushing_does_not_allocate() {
    let far = common::speech(64_000, 16_000, 1);
    let loud: Vec<f32> = common::noise(64_000, 2).iter().map(|v| 3.0 * v).collect();
    let echo = common::convolve(&far, &common::room(100, 5, 3));
    let near = [&echo[..32_000], &loud[32_000..]].concat();
    for suppress in [false, true] {
        let mut canceller =
            Canceller::new(Config { suppress, search: 0.1, ..Config::default() }).unwrap();
        canceller.push(&far[..160], &near[..160]);
        let taken = allocations(|| {
            for (x, d) in far[160..].chunks(160).zip(near[160..].chunks(160)) {
                canceller.push(x, d);
            }
        });
        assert_eq!(taken, 0);
        let status = canceller.status();
        assert!(
            status.takeovers > 0 && status.active > 0,
            "the rare paths were taken, too: {status:?}"
        );
    }
}
