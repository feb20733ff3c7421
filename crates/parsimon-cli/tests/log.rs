//! `parsimon log` on the log of a service: copied while it runs, and repaired.

use std::path::{Path, PathBuf};

use crate::serve::{Served, program, row};

fn learn(served: &Served, range: std::ops::Range<u64>) {
    for first in range.step_by(10) {
        let body: String = (first..first + 10).map(|k| row(k) + "\n").collect();
        served.ok("POST", "/v1/models/m/learn?ack=visible", &body);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_backup_of_a_running_service_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| -> PathBuf { folder.path().join(name) };
    let (log, copy) = (place("data/m"), place("copy"));
    let served = Served::start(&place("data"), &[]);
    learn(&served, 0..100);
    served.ok("POST", "/v1/models/m/snapshot", "");
    learn(&served, 100..200);
    let then = served.digest();
    let (fine, words, errors) = program(&["log", "backup", text(&log), text(&copy)]);
    assert!(fine && words.contains("records 1 to 21 and 1 snapshots"), "{words}{errors}");
    learn(&served, 200..300);
    assert_eq!(served.terminate(), 0);
    // A directory with files is left alone.
    let (fine, _, words) = program(&["log", "restore", text(&copy), text(&log)]);
    assert!(!fine && words.contains("is not empty"), "{words}");
    let (fine, words, _) = program(&["log", "restore", text(&copy), text(&place("again/m"))]);
    assert!(fine && words.contains("records 1 to 21"), "{words}");
    let served = Served::start(&place("again"), &[]);
    assert_eq!(served.digest(), then);
    served.kill();
}

#[test]
fn a_damaged_log_is_repaired_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("m");
    let served = Served::start(folder.path(), &[]);
    learn(&served, 0..200);
    served.kill();
    let (fine, words, _) = program(&["log", "repair", text(&log)]);
    assert!(fine && words.contains("21 records are whole; there is nothing to repair"), "{words}");
    let segment = log.join("log-00000000000000000001.seg");
    let mut bytes = std::fs::read(&segment).unwrap();
    let end = bytes.iter().rposition(|&b| b != 0).unwrap();
    bytes[end / 2] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();
    let (fine, _, words) = program(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--model",
        "m",
        "--data",
        text(folder.path()),
    ]);
    assert!(!fine && words.contains("parsimon log repair"), "{words}");
    let (fine, _, words) = program(&["log", "repair", text(&log)]);
    assert!(!fine && words.contains("is damaged") && words.contains("pass --yes"), "{words}");
    assert!(words.contains("a repair keeps the records up to"), "{words}");
    assert_eq!(std::fs::read(&segment).unwrap(), bytes, "nothing was changed");
    // A repaired copy, and then the log itself.
    let copy = folder.path().join("copy");
    for args in [&["--output", text(&copy)][..], &["--yes"]] {
        let (fine, out, words) = program(&[&["log", "repair", text(&log)], args].concat());
        assert!(
            fine && out.contains("records are left") && out.contains("damaged-1-log-"),
            "{out}{words}"
        );
    }
    for log in [&log, &copy] {
        let (fine, words, _) = program(&["log", "verify", text(log)]);
        assert!(fine && words.contains("records are whole"), "{words}");
    }
    let served = Served::start(folder.path(), &[]);
    let rows = served.ok("GET", "/v1/models/m", "")["rows"].as_u64().unwrap();
    assert!(rows > 0 && rows < 200, "{rows}");
    served.kill();
    let (fine, words, _) = program(&["log", "upgrade", text(&log)]);
    assert!(fine && words.contains("nothing to do"), "{words}");
    let (fine, _, words) = program(&["log", "repair", "/nowhere"]);
    assert!(!fine && words.contains("/nowhere"), "{words}");
}
