//! Damage is refused with its place, and cut on request only.

use std::sync::Arc;

use parsimon_log::simulated::SimulatedDisk;
use parsimon_log::{Disk, Error, Log, Records, repair, verify};

use crate::common::{disk, options, payloads, put};

const SECOND: &str = "log-00000000000000000016.seg";

/// Fifty records in four segments, and a snapshot after the fortieth.
fn written() -> SimulatedDisk {
    let disk = disk();
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    for number in 0..50 {
        put(&log, &[number; 1000]);
    }
    log.write_snapshot(40, |out| out.write_all(b"state")).unwrap();
    drop(log);
    disk
}

#[test]
fn damage_is_refused_by_name_and_repair_cuts_there() {
    let disk = written();
    // Record 18 is the third of the second segment.
    let at = 512 + 2 * 1040 + 500;
    disk.damage(SECOND, |bytes| bytes[at] ^= 4);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let refused = verify(shared.clone()).unwrap_err();
    assert!(matches!(refused, Error::Damaged { offset: 2592, .. }), "{refused}");
    assert!(refused.to_string().starts_with(&format!("simulated/{SECOND}, byte 2592: record 18 ")));
    // From a snapshot behind it, the damage does not matter.
    let log = Log::on(shared.clone(), options()).unwrap();
    assert_eq!(payloads(log.follow(40).unwrap()).len(), 10);
    assert!(matches!(
        log.follow(0).unwrap_or_else(|_| panic!()).next_within(std::time::Duration::ZERO),
        Ok(Some(_))
    ));
    assert!(matches!(repair(shared.clone()), Err(Error::InUse { .. })));
    drop(log);

    let repaired = repair(shared.clone()).unwrap();
    assert_eq!(repaired.last, 17);
    assert_eq!(repaired.damage, Some(refused.to_string()));
    let mut aside: Vec<_> = disk.list().unwrap();
    aside.retain(|name| name.starts_with("damaged-"));
    assert_eq!(aside.len(), 4, "{aside:?}");
    let log = Log::on(shared.clone(), options()).unwrap();
    assert_eq!((log.opened().last, log.opened().torn), (17, 0));
    assert_eq!(
        payloads(log.follow(0).unwrap()),
        (0..17).map(|number| [number; 1000]).collect::<Vec<_>>()
    );
    assert_eq!(put(&log, b"on"), 18);
    drop(log);
    assert_eq!(verify(shared.clone()).unwrap().last, 18);
    assert_eq!(repair(shared).unwrap().damage, None);
}

#[test]
fn a_missing_segment_is_damage() {
    let disk = written();
    disk.remove(SECOND).unwrap();
    let refused = verify(Arc::new(disk.clone())).unwrap_err();
    assert!(refused.to_string().contains("record 16 should be here"), "{refused}");
    assert_eq!(repair(Arc::new(disk.clone())).unwrap().last, 15);
    assert_eq!(Log::on(Arc::new(disk), options()).unwrap().opened().last, 15);
}

#[test]
fn a_header_that_is_damaged_or_newer_is_refused_by_name() {
    let disk = written();
    disk.damage(SECOND, |bytes| bytes[20] ^= 1);
    let refused = Log::on(Arc::new(disk.clone()), options()).err().unwrap();
    assert!(matches!(refused, Error::Damaged { offset: 0, .. }), "{refused}");
    assert_eq!(repair(Arc::new(disk.clone())).unwrap().last, 15);

    let disk = written();
    disk.damage(SECOND, |bytes| bytes[8] = 2);
    let refused = Log::on(Arc::new(disk.clone()), options()).err().unwrap();
    let message =
        format!("simulated/{SECOND}: format version 2 is newer than 1; use a newer program");
    assert_eq!(refused.to_string(), message);
    assert!(matches!(repair(Arc::new(disk)), Err(Error::Newer { version: 2, .. })));
}

#[test]
fn a_torn_tail_is_cut_and_counted() {
    let disk = written();
    let last = "log-00000000000000000046.seg";
    disk.damage(last, |bytes| {
        let end = 512 + 5 * 1040;
        bytes[end..end + 100].fill(3);
    });
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    assert_eq!(verify(shared.clone()).unwrap().torn, 100);
    let log = Log::on(shared.clone(), options()).unwrap();
    assert_eq!((log.opened().last, log.opened().torn), (50, 100));
    drop(log);
    assert_eq!(verify(shared).unwrap().torn, 0);
}

#[test]
fn a_repair_may_be_interrupted_at_any_time() {
    let damaged = written();
    damaged.damage(SECOND, |bytes| bytes[512 + 2 * 1040 + 500] ^= 4);
    damaged.record();
    repair(Arc::new(damaged.clone())).unwrap();
    let states = damaged.take_history();
    assert!(states.len() > 10);
    for state in states {
        let ways = state.choices();
        let all: Vec<_> = ways.iter().map(|ways| ways - 1).collect();
        let some =
            |odd: usize| all.iter().enumerate().map(|(at, way)| way * ((at + odd) % 2)).collect();
        for choices in [Vec::new(), some(0), some(1), all.clone()] {
            let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new(state.crash(&choices), 512));
            repair(disk.clone()).unwrap();
            let log = Log::on(disk.clone(), options()).unwrap();
            assert_eq!(log.opened().last, 17);
            drop(log);
            let mut records = Records::open(disk, 0).unwrap();
            let mut next = 0;
            while records.advance().unwrap() {
                next += 1;
            }
            assert_eq!(next, 17);
        }
    }
}
