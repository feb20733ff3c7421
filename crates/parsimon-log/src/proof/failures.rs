//! Writes and syncs that fail: the process ends, another opens the log with what the system's memory holds, goes on, and then the
//! power is cut.

use parsimon_testing::SplitMix64;

use super::crashes::{Effort, Seen, explore};
use super::driver::{Driver, Facts, LIMITS, Wrong};
use super::script;
use crate::segment;
use crate::simulated::{Faults, SimulatedDisk, State};

/// Runs a script until a fault strikes; whether it did.
fn until_fault(seed: u64, faults: Faults, seen: &mut Seen) -> Result<bool, Wrong> {
    let random = &mut SplitMix64::new(seed);
    let disk = SimulatedDisk::new(State::default(), script::block(seed));
    let mut driver = Driver::open(disk.clone(), Facts::default())?;
    disk.set_faults(faults);
    for _ in 0..60 {
        match script::step(&mut driver, random) {
            Ok(()) => {}
            Err(Wrong::Disk(_)) => {
                disk.set_faults(Faults::default());
                after_fault(&mut driver, random, seed, seen)?;
                return Ok(true);
            }
            Err(wrong) => return Err(wrong),
        }
    }
    Ok(false)
}

fn after_fault(
    driver: &mut Driver,
    random: &mut SplitMix64,
    seed: u64,
    seen: &mut Seen,
) -> Result<(), Wrong> {
    driver.disk.record();
    driver.timeline = vec![(0, driver.facts.clone())];
    driver.restart()?;
    for _ in 0..3 {
        script::send(driver, random)?;
        driver.commit()?;
    }
    let run = (driver.disk.take_history(), std::mem::take(&mut driver.timeline));
    explore(&run, seed, Effort { subsets: 6, again: 1 }, false, seen)
}

/// Lets every write, every sync and every sync of names of a script fail in turn.
pub(crate) fn every_fault(seeds: std::ops::Range<u64>) -> Result<Seen, Wrong> {
    let mut seen = Seen::default();
    for seed in seeds {
        for number in 0.. {
            let fail_sync = Faults { fail_sync: Some(number), ..Faults::default() };
            let fail_writes = Faults { fail_writes_from: Some(number), ..Faults::default() };
            let fail_names = Faults { fail_names_from: Some(number), ..Faults::default() };
            let mut struck = false;
            for faults in [fail_sync, fail_writes, fail_names] {
                let place = format!("seed {seed}, {faults:?}");
                struck |= until_fault(seed, faults, &mut seen)
                    .map_err(|wrong| Wrong::Promise(format!("{place}: {wrong:?}")))?;
            }
            if !struck {
                break;
            }
        }
    }
    Ok(seen)
}

/// A disk that fills up: records are refused while there is no room, and nothing else happens.
pub(crate) fn full_disk(late: bool) -> Result<(), Wrong> {
    let disk = SimulatedDisk::new(State::default(), 512);
    let mut driver = Driver::open(disk.clone(), Facts::default())?;
    let room = 2 * LIMITS.segment_bytes as usize + 700;
    disk.set_faults(Faults { room: Some(room), late, ..Faults::default() });
    let record = [vec![7; 400]];
    let mut refused = 0;
    for _ in 0..40 {
        refused += u32::from(!driver.send(&record)?);
        driver.commit().map_err(|wrong| Wrong::Promise(format!("a full disk: {wrong:?}")))?;
    }
    let taken = driver.facts.acknowledged;
    let limit = segment::limit(LIMITS.segment_bytes) / 440 * 2;
    if refused == 0 || taken == 0 || taken as usize > limit {
        return Err(Wrong::Promise(format!("{taken} taken, {refused} refused")));
    }
    disk.set_faults(Faults::default());
    if !driver.send(&record)? {
        return Err(Wrong::Promise("refused although there is room again".into()));
    }
    driver.commit()?;
    let facts = driver.facts.clone();
    let cut = SimulatedDisk::new(disk.state().crash(&[]), 512);
    Driver::open(cut, facts).map(|_| ())
}

#[test]
fn a_failed_write_or_sync_costs_no_acknowledged_record() {
    let seen = every_fault(0..6).unwrap();
    println!("{} distinct crash points after a failed write or sync", seen.images.len());
    assert!(seen.images.len() > 1000, "{}", seen.images.len());
}

#[test]
fn a_full_disk_refuses_records_and_goes_on_when_there_is_room() {
    full_disk(false).unwrap();
    full_disk(true).unwrap();
}
