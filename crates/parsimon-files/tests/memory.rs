//! The budget of a process, in a process of its own.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use parsimon_files::memory::{Claim, check, in_use, left, set_budget};

#[test]
fn claims_are_granted_raised_and_given_back() {
    set_budget(1_000_000_000);
    let mut one = Claim::of(600_000_000).unwrap();
    let refused = Claim::of(500_000_000).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "500 MB of memory beside the 600 MB in use, and the budget is 1 GB"
    );
    assert_eq!(refused.enough().as_deref(), Some("2GB"));
    one.raise(100).unwrap();
    assert_eq!(one.bytes(), 600_000_000);
    one.set(100_000_000).unwrap();
    let two = Claim::of(900_000_000).unwrap();
    assert_eq!((in_use(), left()), (1_000_000_000, 0));
    assert!(check(1).is_err());
    drop(two);
    assert!(check(u64::MAX).is_err());
    set_budget(10);
    one.set(50_000_000).unwrap();
    drop(one);
    assert_eq!(in_use(), 0);
}
