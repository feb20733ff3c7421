//! Random scripts of what a service does with its log.

use parsimon_testing::SplitMix64;

use super::driver::{Driver, Facts, Run, Wrong};
use crate::simulated::{SimulatedDisk, State};

/// The size of blocks that are written as a whole: sectors, or pages.
pub(crate) fn block(seed: u64) -> usize {
    if seed % 4 == 3 { 4096 } else { 512 }
}

fn payload(random: &mut SplitMix64) -> Vec<u8> {
    // Every now and then as before: a sender that tries again sends the same bytes.
    if random.chance(0.2) {
        return b"the same again".to_vec();
    }
    let size = if random.chance(0.2) { 600 } else { 120 };
    (0..random.below(size)).map(|_| random.bits() as u8).collect()
}

/// Sends a few records.
pub(crate) fn send(driver: &mut Driver, random: &mut SplitMix64) -> Result<(), Wrong> {
    let payloads: Vec<_> = (0..=random.below(8)).map(|_| payload(random)).collect();
    driver.send(&payloads).map(|_| ())
}

/// One step of a script.
pub(crate) fn step(driver: &mut Driver, random: &mut SplitMix64) -> Result<(), Wrong> {
    let acknowledged = driver.facts.acknowledged;
    match random.below(24) {
        0..=7 => send(driver, random)?,
        8..=14 => driver.commit()?,
        // Time stands still now and then, so that a record sent again is the same to the last byte.
        15 => driver.time += random.below(700),
        // A state follows from its records.
        16..=18 => driver.snapshot(acknowledged, payload(&mut SplitMix64::new(acknowledged)))?,
        19 => driver.prune(2 + random.below(2) as usize)?,
        20 | 21 => driver.truncate(random.below(3) * 6000)?,
        22 => {
            let first = driver.queue.first;
            let base = first - 1 + random.below(acknowledged + 2 - first);
            driver.begin_epoch(base)?;
        }
        _ => {
            driver.write()?;
            driver.restart()?;
        }
    }
    Ok(())
}

/// Runs a script of so many steps on an empty disk and gives the states that the disk went through, and the facts at each.
pub(crate) fn run(seed: u64, steps: usize) -> Result<Run, Wrong> {
    let random = &mut SplitMix64::new(seed);
    let disk = SimulatedDisk::new(State::default(), block(seed));
    disk.record();
    let mut driver = Driver::open(disk.clone(), Facts::default())?;
    for _ in 0..steps {
        step(&mut driver, random)?;
    }
    Ok((disk.take_history(), driver.timeline))
}
