//! Backups, retention, repair, and logs of other versions.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parsimon_serve::{ARITHMETIC, Model, Policy, Source, archive};
use serde_json::Value;

use crate::common::{Running, learning, policy, row, rows};

const LEARN: &str = "/v1/models/m/learn?ack=visible";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone()
}

fn files(directory: &Path, start: &str) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with(start));
    names.sort();
    names
}

#[test]
fn a_backup_of_a_running_service_is_one_of_its_states() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Running::new(vec![learning(&data)]);
    server.post(LEARN, "application/x-ndjson", &rows(0..300)).ok();
    let is_over = AtomicBool::new(false);
    let mut copies = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for k in 1000.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                server.json("/v1/models/m/learn?ack=logged", &row(k)).ok();
                if k % 50 == 0 {
                    server.send("POST", "/v1/models/m/snapshot", &[], b"").ok();
                }
            }
        });
        for k in 0..8 {
            std::thread::sleep(Duration::from_millis(30));
            let copy = folder.path().join(format!("copy{k}")).join("m");
            copies.push((archive::backup(&data.join("m"), &copy).unwrap(), copy));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    server.end();
    let whole = archive::verify(&data.join("m")).unwrap().0;
    let mut last = 0;
    for (copied, copy) in &copies {
        assert!(copied.last >= last && copied.last <= whole, "{copied:?}");
        last = copied.last;
        // From the copy's snapshots and from its first record: one state.
        let replayed = archive::replay(copy, &parsimon_serve::Without::default()).unwrap();
        let restored = Running::new(vec![
            Model::learning("m", &Source::Log, policy(copy.parent().unwrap())).unwrap(),
        ]);
        assert_eq!(digest(&restored), format!("{:016x}", replayed.digest));
        assert_eq!(restored.json(LEARN, &row(5)).ok()["duplicate"], true);
    }
    assert!(last > 1, "{last}");
    let error = archive::backup(&data.join("m"), &copies[0].1).unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
    let nothing = tempfile::tempdir().unwrap();
    assert!(archive::backup(nothing.path(), &folder.path().join("n")).is_err());
}

#[test]
fn old_rows_go_below_two_snapshots_only() {
    let folder = tempfile::tempdir().unwrap();
    let keep = Policy { segment_bytes: 40 << 10, snapshots: 2, ..policy(folder.path()) };
    let forget = Policy { retain: Some(Duration::from_millis(1)), ..keep.clone() };
    let open = |policy: &Policy| {
        let source = crate::common::fresh(parsimon::Spec::new("ftrl"));
        Running::new(vec![Model::learning("m", &source, policy.clone()).unwrap()])
    };
    let server = open(&forget);
    let directory = folder.path().join("m");
    let load = |part: u64| {
        for k in 0..20 {
            let first = 10_000 * part + 100 * k;
            server.post(LEARN, "application/x-ndjson", &rows(first..first + 100)).ok();
        }
    };
    load(0);
    // Without snapshots nothing goes, however old it is.
    std::thread::sleep(Duration::from_millis(20));
    let before = files(&directory, "log-").len();
    assert!(before > 2 && files(&directory, "log-")[0].ends_with("01.seg"));
    server.send("POST", "/v1/models/m/snapshot", &[], b"").ok();
    assert_eq!(files(&directory, "log-").len(), before, "one snapshot is not enough");
    load(1);
    std::thread::sleep(Duration::from_millis(20));
    server.send("POST", "/v1/models/m/snapshot", &[], b"").ok();
    let after = files(&directory, "log-");
    assert!(!after[0].ends_with("01.seg"), "{after:?}");
    let live = digest(&server);
    server.end();
    let server = open(&keep);
    assert_eq!(digest(&server), live);
    assert_eq!(server.json(LEARN, &row(5)).ok()["duplicate"], true);
}

#[test]
fn a_log_of_another_arithmetic_goes_on_from_its_last_snapshot_or_is_upgraded() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("m");
    let server = Running::new(vec![learning(folder.path())]);
    server.post(LEARN, "application/x-ndjson", &rows(0..200)).ok();
    let live = digest(&server);
    server.end();
    // The last snapshot has everything: a newer program begins an epoch with it.
    let newer = |arithmetic| {
        Model::learning("m", &Source::Log, Policy { arithmetic, ..policy(folder.path()) })
    };
    let server = Running::new(vec![newer(ARITHMETIC + 1).unwrap()]);
    assert_eq!(server.get("/v1/models/m").ok()["version"]["epoch"], 2);
    assert_eq!(digest(&server), live);
    server.post(LEARN, "application/x-ndjson", &rows(200..300)).ok();
    let live = digest(&server);
    server.end();
    // Rows that no snapshot has are refused, and learned again by the upgrade.
    std::fs::remove_file(directory.join(files(&directory, "snap-").pop().unwrap())).unwrap();
    let error = newer(ARITHMETIC + 2).err().unwrap().to_string();
    assert!(
        error.contains("parsimon log upgrade") && error.contains("another arithmetic"),
        "{error}"
    );
    let done = archive::upgrade(&directory, Some(ARITHMETIC + 2)).unwrap().unwrap();
    assert_eq!((done.before, done.now, done.rows), (ARITHMETIC + 1, ARITHMETIC + 2, 100));
    assert_eq!(archive::upgrade(&directory, Some(ARITHMETIC + 2)).unwrap(), None);
    let server = Running::new(vec![newer(ARITHMETIC + 2).unwrap()]);
    assert_eq!(server.get("/v1/models/m").ok()["version"]["epoch"], done.version.epoch);
    assert_eq!(digest(&server), live);
    assert_eq!(server.json(LEARN, &row(250)).ok()["duplicate"], true);
    server.end();
    // If the snapshot of the upgrade is lost, the rows before it are not learned with another arithmetic in silence.
    for name in files(&directory, "snap-").into_iter().skip(1) {
        std::fs::remove_file(directory.join(name)).unwrap();
    }
    assert!(newer(ARITHMETIC + 2).err().unwrap().to_string().contains("log upgrade"));
    assert!(archive::upgrade(&directory, Some(ARITHMETIC + 2)).unwrap().is_some());
    assert_eq!(digest(&Running::new(vec![newer(ARITHMETIC + 2).unwrap()])), live);
}

#[test]
fn the_default_label_is_checked_at_the_start() {
    use parsimon_serve::Labels;
    let folder = tempfile::tempdir().unwrap();
    let open = |default: &str| {
        let labels = Labels::Window {
            window: Duration::from_secs(60),
            default: default.into(),
            learn_late: false,
        };
        let source = crate::common::fresh(parsimon::Spec::new("ftrl"));
        Model::learning("m", &source, Policy { labels, ..policy(folder.path()) })
    };
    let error = open("perhaps").err().unwrap().to_string();
    assert!(error.contains("the default label \"perhaps\""), "{error}");
    assert!(open("0").is_ok());
}
