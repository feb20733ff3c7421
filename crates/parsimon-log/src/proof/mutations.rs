//! Every step of the log is left out in turn, and something must notice.

use super::crashes::{Effort, scripts};
use super::driver::Wrong;
use super::{damage, failures};
use crate::step::{ALL, without};

/// Runs a short version of every proof.
fn proof() -> Result<(), Wrong> {
    failures::full_disk(true)?;
    damage::wrong_snapshot()?;
    damage::snapshot_beyond_the_end()?;
    scripts(0..8, 120, Effort { subsets: 12, again: 8 })?;
    failures::every_fault(0..2)?;
    damage::every_byte(7)?;
    damage::another_past()
}

#[test]
fn no_step_can_be_left_out() {
    proof().unwrap();
    let mut unnoticed = Vec::new();
    for step in ALL {
        match without(step, proof) {
            Err(wrong) => println!("without {step:?}: {:.160}", format!("{wrong:?}")),
            Ok(()) => unnoticed.push(step),
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed:?} can be left out, and nothing notices");
    println!("{} steps, none can be left out", ALL.len());
}
