//! Snapshots are written whole or not at all; segments go only when two of them make up for it.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use parsimon_log::{AppendError, Disk, Error, Log, Options};

use crate::common::{disk, names, options, put};

fn segments(disk: &dyn Disk) -> usize {
    names(disk, ".seg").len()
}

#[test]
fn a_snapshot_comes_back_and_a_damaged_one_is_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let pace = Some(Duration::from_micros(10));
    let log = Log::open(directory.path(), Options { snapshot_pace: pace, ..options() }).unwrap();
    let state: Vec<u8> = (0..3_000_000_u32).map(|number| (number >> 7) as u8).collect();
    for _ in 0..2 {
        let seq = put(&log, b"row");
        log.write_snapshot(seq, |out| {
            state.chunks(70_001).try_for_each(|part| out.write_all(part))
        })
        .unwrap();
    }
    let (found, _) = log.newest_snapshot(2).unwrap();
    let (snapshot, mut bytes) = found.unwrap();
    assert_eq!((snapshot.seq, bytes.left()), (2, state.len()));
    let mut read = Vec::new();
    bytes.read_to_end(&mut read).unwrap();
    assert!(read == state);

    let path = directory.path().join(snapshot.name());
    let mut damaged = std::fs::read(&path).unwrap();
    damaged[1_500_000] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    let (found, bad) = log.newest_snapshot(2).unwrap();
    assert_eq!(found.unwrap().0.seq, 1);
    assert!(bad[0].to_string().contains(&snapshot.name()), "{}", bad[0]);
}

#[test]
fn a_snapshot_that_fails_leaves_nothing() {
    let disk = disk();
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    put(&log, b"row");
    let failed = log.write_snapshot(1, |_| Err(io::Error::other("no state"))).unwrap_err();
    assert!(failed.to_string().contains("no state"), "{failed}");
    assert!(!disk.list().unwrap().iter().any(|name| name.starts_with("snap-")));
    let early = log.write_snapshot(2, |_| Ok(())).unwrap_err();
    assert!(matches!(early, Error::NotHeld { seq: 2, .. }), "{early}");
}

#[test]
fn segments_are_removed_below_the_older_of_two_whole_snapshots_only() {
    let disk = disk();
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    let write =
        |seq: u64| log.write_snapshot(seq, |out| out.write_all(&seq.to_le_bytes())).unwrap();
    for _ in 0..100 {
        put(&log, &[1; 1000]);
    }
    assert_eq!(segments(&disk), 7);
    log.truncate(0).unwrap();
    write(90);
    log.truncate(0).unwrap();
    assert_eq!(segments(&disk), 7, "one snapshot is not enough");
    write(40);
    // Records 1 to 30 are in two segments of 15.
    log.truncate(6 << 14).unwrap();
    assert_eq!(segments(&disk), 6, "the budget");
    log.truncate(0).unwrap();
    assert_eq!(segments(&disk), 5, "the older snapshot");
    assert!(matches!(log.follow(29), Err(Error::NotHeld { first: 31, .. })));
    assert!(log.follow(30).is_ok());
    // Only what can be rebuilt can be gone back to.
    assert!(matches!(log.begin_epoch(35, "back"), Err(AppendError::NoSuchBase { base: 35, .. })));
    write(95);
    assert_eq!(log.prune_snapshots(0).unwrap(), 1);
    assert_eq!(log.snapshots().unwrap(), [(1, 95), (1, 90)]);
    log.truncate(0).unwrap();
    drop(log);
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    assert_eq!((log.opened().first, log.opened().last), (91, 100));
}
