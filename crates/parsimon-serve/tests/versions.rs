//! Snapshots are listed and gone back to, with ids and waiting rows.

use serde_json::{Value, json};

use crate::common::{Running, learning, row, rows};

const LEARN: &str = "/v1/models/m/learn?ack=visible";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone()
}

#[test]
fn a_model_goes_back_to_a_snapshot_and_on_in_a_new_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    server.post(LEARN, "application/x-ndjson", &rows(0..100)).ok();
    server.json("/v1/models/m/score", r#"{"id":"w","site":"s1"}"#).ok();
    let version = server.send("POST", "/v1/models/m/snapshot", &[], b"").ok()["version"].clone();
    let good = digest(&server);
    server.post(LEARN, "application/x-ndjson", &rows(100..200)).ok();
    server.json("/v1/models/m/label?ack=visible", r#"{"id":"w","label":1}"#).ok();
    let bad = digest(&server);
    assert_ne!(good, bad);
    let versions = server.get("/v1/models/m/versions").ok();
    assert_eq!(versions["versions"][0]["digest"], good);
    assert_eq!(versions["versions"][0]["rows"], json!(100));
    assert_eq!(server.json("/v1/models/m/rollback", r#"{"epoch":1,"seq":77}"#).status, 404);
    assert_eq!(server.json("/v1/models/m/rollback", r#"{"epoch":1}"#).status, 400);
    let back = server.json("/v1/models/m/rollback", &version.to_string()).ok();
    assert_eq!(back["version"]["epoch"], json!(2));
    assert_eq!(digest(&server), good);
    // Ids and waiting rows are as they were.
    assert_eq!(server.json(LEARN, &row(5)).ok()["duplicate"], json!(true));
    assert_eq!(server.json(LEARN, &row(150)).ok()["learned"], json!(1));
    assert_eq!(
        server.json("/v1/models/m/label", r#"{"id":"w","label":0}"#).ok()["learned"],
        json!(1)
    );
    let live = digest(&server);
    let about = server.get("/v1/models/m").ok();
    server.end();
    let server = Running::new(vec![learning(folder.path())]);
    assert_eq!(digest(&server), live);
    assert_eq!(server.get("/v1/models/m").ok()["version"]["epoch"], about["version"]["epoch"]);
    assert_eq!(server.json(LEARN, &row(150)).ok()["duplicate"], json!(true));
    assert_eq!(server.json(LEARN, &row(160)).ok()["learned"], json!(1));
}

#[test]
fn the_log_is_seen_to_lead_to_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let proof = |from: u64| {
        for _ in 0..2000 {
            let versions = server.get("/v1/models/m/versions").ok();
            let newest = versions["versions"][0].clone();
            if !newest["proof"].is_null() {
                assert_eq!(newest["proof"], json!({"from": from, "holds": true}));
                return newest["seq"].as_u64().unwrap();
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("the snapshot is not proved");
    };
    let mut from = 0;
    for k in 0..3 {
        server.post(LEARN, "application/x-ndjson", &rows(100 * k..100 * (k + 1))).ok();
        server.send("POST", "/v1/models/m/snapshot", &[], b"").ok();
        from = proof(from);
    }
    let metrics = server.get("/metrics");
    assert!(metrics.text().contains("parsimon_snapshots_proved{model=\"m\"} 3"));
    assert!(metrics.text().contains("parsimon_snapshots_disproved{model=\"m\"} 0"));
}
