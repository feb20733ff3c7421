//! Damage to what was durable: every byte flipped, sectors of another past, snapshots that arrive wrong. A log answers with the first
//! records that were sent, or refuses; it never answers with anything else.

use std::collections::BTreeMap;

use super::driver::{Driver, Facts, Wrong, names};
use crate::files::UNFINISHED;
use crate::segment;
use crate::simulated::{Faults, SimulatedDisk, State};

/// A log of a few segments, with groups of several records, an epoch and a snapshot.
fn log(salt: u8) -> Result<(SimulatedDisk, Facts), Wrong> {
    let disk = SimulatedDisk::new(State::default(), 512);
    let mut driver = Driver::open(disk.clone(), Facts::default())?;
    for number in 0_u8..24 {
        driver.send(&[vec![number ^ salt; 150 + usize::from(number)], vec![salt; 40]])?;
        driver.send(&[vec![number; 5]])?;
        driver.commit()?;
        match number {
            6 => driver.snapshot(driver.facts.acknowledged, b"a state".to_vec())?,
            14 => driver.begin_epoch(10)?,
            _ => {}
        }
    }
    Ok((disk, driver.facts))
}

/// Opens a damaged log. A refusal is an answer; so are fewer records, if they are the end of the last segment.
fn open(disk: SimulatedDisk, facts: &Facts, may_be_cut: bool) -> Result<bool, Wrong> {
    let lenient = Facts { snapshots: BTreeMap::new(), acknowledged: 0, ..facts.clone() };
    let before = facts.acknowledged;
    match Driver::open(disk, lenient) {
        Ok(driver) if driver.facts.acknowledged < before && !may_be_cut => {
            Err(Wrong::Promise(format!("cut after {} in silence", driver.facts.acknowledged)))
        }
        Ok(_) => Ok(true),
        Err(Wrong::Promise(why)) if why.starts_with("refused: ") => Ok(false),
        Err(wrong) => Err(wrong),
    }
}

/// Flips every byte; how many logs were opened, and how many refused.
pub(crate) fn every_byte(step: usize) -> Result<(usize, usize), Wrong> {
    let (disk, facts) = log(0)?;
    let files = names(&disk);
    let last = files.iter().rfind(|name| segment::first_of(name).is_some()).cloned();
    let (mut opened, mut refused) = (0, 0);
    for name in files.iter().filter(|name| !name.ends_with(UNFINISHED)) {
        let size = crate::disk::Disk::open(&disk, name, false)?.size()? as usize;
        for at in (0..size).step_by(step) {
            let damaged = SimulatedDisk::new(disk.state(), 512);
            damaged.damage(name, |bytes| bytes[at] ^= 1 << (at % 8));
            let answer = open(damaged, &facts, Some(name) == last.as_ref())
                .map_err(|wrong| Wrong::Promise(format!("{name}, byte {at}: {wrong:?}")))?;
            *(if answer { &mut opened } else { &mut refused }) += 1;
        }
    }
    Ok((opened, refused))
}

/// Puts sectors and whole segments of a log with other records in place of a log's.
pub(crate) fn another_past() -> Result<(), Wrong> {
    let (disk, facts) = log(0)?;
    let (other, _) = log(1)?;
    let files = names(&disk);
    for name in files.iter().filter(|name| segment::first_of(name).is_some()) {
        let mut theirs = Vec::new();
        other.damage(name, |bytes| theirs.clone_from(bytes));
        // The whole first segment of the other log would be another log, until its end.
        let start = if *name == segment::name(1) { segment::START + 8 } else { 0 };
        for from in (start..theirs.len()).step_by(8) {
            let mixed = SimulatedDisk::new(disk.state(), 512);
            mixed.damage(name, |bytes| bytes[from..].copy_from_slice(&theirs[from..]));
            // The very last group cannot be distinguished from an unfinished one.
            open(mixed, &facts, Some(name) == files.iter().rfind(|n| n.starts_with("log-")))
                .map_err(|wrong| Wrong::Promise(format!("{name} from {from}: {wrong:?}")))?;
        }
    }
    Ok(())
}

/// A snapshot that arrives wrong on the disk is no snapshot.
pub(crate) fn wrong_snapshot() -> Result<(), Wrong> {
    let (disk, facts) = log(0)?;
    let mut driver = Driver::open(disk.clone(), facts)?;
    disk.set_faults(Faults { flip_at: Some(70), ..Faults::default() });
    let written = driver.snapshot(driver.facts.acknowledged, b"a later state".to_vec());
    disk.set_faults(Faults::default());
    match written {
        Err(_) => Ok(()),
        Ok(()) => driver.restart(),
    }
}

/// The last group is damaged, and a snapshot says that it was durable.
pub(crate) fn snapshot_beyond_the_end() -> Result<(), Wrong> {
    let (disk, facts) = log(0)?;
    let mut driver = Driver::open(disk.clone(), facts)?;
    driver.snapshot(driver.facts.acknowledged, b"the last state".to_vec())?;
    let last = names(&disk).into_iter().rfind(|name| name.starts_with("log-")).unwrap_or_default();
    disk.damage(&last, |bytes| {
        let end = bytes.iter().rposition(|&byte| byte != 0).unwrap_or(0);
        bytes[end] ^= 1;
    });
    match open(disk, &driver.facts, true)? {
        false => Ok(()),
        true => Err(Wrong::Promise("opened before its snapshot".into())),
    }
}

#[test]
fn a_flipped_byte_gives_the_first_records_or_a_refusal() {
    let (opened, refused) = every_byte(1).unwrap();
    println!("{opened} opened, {refused} refused");
    assert!(opened > 5000 && refused > 5000, "{opened} opened, {refused} refused");
}

#[test]
fn records_of_another_past_are_not_taken_for_the_log() {
    another_past().unwrap();
}

#[test]
fn snapshots_are_read_back_and_bind_the_log() {
    wrong_snapshot().unwrap();
    snapshot_beyond_the_end().unwrap();
}
