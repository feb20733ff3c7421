//! A log is copied while it is written, and old segments go by their age.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parsimon_log::{Disk, Error, Log, copy, damage, verify};

use crate::common::{clock, disk, names, options, payloads, put};

#[test]
fn a_copy_is_a_prefix_with_its_snapshots() {
    let source = disk();
    let log = Log::on(Arc::new(source.clone()), options()).unwrap();
    for number in 0..40 {
        put(&log, &[number; 1000]);
    }
    log.write_snapshot(20, |out| out.write_all(b"state")).unwrap();
    log.write_snapshot(30, |out| out.write_all(b"other")).unwrap();
    source.damage("snap-0000000001-00000000000000000030", |bytes| bytes[70] ^= 1);
    let target = disk();
    let shared: Arc<dyn Disk> = Arc::new(target.clone());
    let copied = copy(&source, shared.clone()).unwrap();
    assert_eq!((copied.first, copied.last), (1, 40));
    assert_eq!((copied.snapshots.len(), copied.left_out.len()), (1, 1));
    // The source is still open, and goes on.
    put(&log, b"later");
    drop(log);
    assert_eq!(verify(shared.clone()).unwrap().last, 40);
    assert!(matches!(copy(&source, shared.clone()), Err(Error::NotEmpty { .. })));
    let log = Log::on(shared, options()).unwrap();
    assert_eq!(payloads(log.follow(0).unwrap()).len(), 40);
    assert_eq!(put(&log, b"on"), 41);
    drop(log);
    // Damage is not copied in silence.
    source.damage("log-00000000000000000016.seg", |bytes| bytes[3000] ^= 1);
    let refused = copy(&source, Arc::new(disk())).unwrap_err();
    assert!(matches!(refused, Error::Damaged { .. }), "{refused}");
    let found = damage(Arc::new(source.clone())).unwrap();
    assert_eq!(found.last, 17);
    assert!(found.aside.iter().any(|name| name == "log-00000000000000000016.seg"), "{found:?}");
    assert!(names(&source, ".seg").iter().all(|name| name.starts_with("log-")));
}

#[test]
fn segments_go_by_age_below_two_snapshots() {
    let disk = disk();
    let (options, time) = clock(options());
    let log = Log::on(Arc::new(disk.clone()), options).unwrap();
    for number in 0..60 {
        time.store(1000 * u64::from(number), Ordering::Relaxed);
        put(&log, &[number; 1000]);
    }
    let first =
        || names(&disk, ".seg").into_iter().filter(|n| n.starts_with("log-")).min().unwrap();
    let all = first();
    log.forget(u64::MAX).unwrap();
    assert_eq!(first(), all, "no snapshot leads beyond anything");
    log.write_snapshot(40, |out| out.write_all(b"a")).unwrap();
    log.write_snapshot(50, |out| out.write_all(b"b")).unwrap();
    // Records 1 to 15 are from 0 to 14 s; the second segment begins at 15 s.
    log.forget(15_000).unwrap();
    assert_eq!(first(), all, "the segment after it is not older than that");
    log.forget(15_001).unwrap();
    assert_eq!(first(), "log-00000000000000000016.seg");
    log.forget(u64::MAX).unwrap();
    assert_eq!(first(), "log-00000000000000000031.seg", "the older snapshot needs it");
    drop(log);
    assert_eq!(verify(Arc::new(disk)).unwrap().last, 60);
}
