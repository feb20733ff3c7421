//! Learning is paused and resumed, by request or by the breaker, and the log says so.

use parsimon::Spec;
use parsimon_serve::{Breaker, Model, Policy};
use serde_json::{Value, json};

use crate::common::{Running, fresh, learning, policy, row, rows};

const LEARN: &str = "/v1/models/m/learn";
const PAUSE: &str = "/v1/models/m/pause";
const RESUME: &str = "/v1/models/m/resume";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone()
}

fn learn(server: &Running, range: std::ops::Range<u64>) -> Value {
    server.post(LEARN, "application/x-ndjson", &rows(range)).ok()
}

/// A server, used and ended; its digest, and that of the server after a restart from the log alone.
fn twice(usage: impl Fn(&Running)) -> [Value; 2] {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    usage(&server);
    learn(&server, 900..910);
    server.post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &row(910)).ok();
    let live = digest(&server);
    server.end();
    let names = std::fs::read_dir(folder.path().join("m")).unwrap();
    for entry in names {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("snap-") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let server = Running::new(vec![learning(folder.path())]);
    [live, digest(&server)]
}

#[test]
fn rows_of_a_pause_are_learned_or_skipped_and_a_replay_agrees() {
    let plain = twice(|server| drop(learn(server, 0..100)));
    let with_backlog = |backlog: &str| {
        twice(|server| {
            learn(server, 0..60);
            let before = digest(server);
            server.json(PAUSE, r#"{"reason": "odd labels"}"#).ok();
            let answer = learn(server, 60..100);
            assert_eq!((&answer["learned"], &answer["paused"]), (&json!(40), &json!(true)));
            assert_eq!(digest(server), before);
            let about = server.get("/v1/models/m").ok();
            assert_eq!(about["paused"]["reason"], "odd labels");
            assert_eq!(about["accepting"], json!(true));
            assert_eq!(server.json(PAUSE, "").status, 409);
            let visible = format!("{LEARN}?ack=visible");
            assert_eq!(server.json(&visible, &row(60)).status, 409);
            assert!(server.json(RESUME, "{}").refused(400).contains("backlog"));
            server.json(RESUME, &json!({"backlog": backlog}).to_string()).ok();
            assert_eq!(server.json(RESUME, r#"{"backlog": "skip"}"#).status, 409);
            // Known whether they were learned or not.
            assert_eq!(learn(server, 60..100)["duplicate"], json!(true));
        })
    };
    let (learned, skipped) = (with_backlog("learn"), with_backlog("skip"));
    assert_eq!(plain[0], plain[1]);
    assert_eq!(learned, plain);
    assert_eq!(skipped[0], skipped[1]);
    assert_ne!(skipped, plain);
}

#[test]
fn a_pause_outlives_a_restart_and_its_rows_are_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Running::new(vec![learning(folder.path())]);
    let server = open();
    learn(&server, 0..60);
    server.json(PAUSE, "").ok();
    learn(&server, 60..90);
    let before = digest(&server);
    // With a snapshot, and without.
    for path in ["/v1/models/m/snapshot", "/v1/models/m/versions"] {
        server.send(if path.ends_with("snapshot") { "POST" } else { "GET" }, path, &[], b"").ok();
    }
    server.end();
    let server = open();
    assert_eq!(server.get("/v1/models/m").ok()["paused"]["reason"], "by request");
    assert_eq!(digest(&server), before);
    learn(&server, 90..100);
    server.json(RESUME, r#"{"backlog": "learn"}"#).ok();
    learn(&server, 900..910);
    server.post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &row(910)).ok();
    let plain = twice(|server| drop(learn(server, 0..100)));
    assert_eq!(digest(&server), plain[0]);
}

#[test]
fn the_breaker_pauses_and_counts_rows() {
    let folder = tempfile::tempdir().unwrap();
    let breaker = Breaker { labels: Some((0.1, 0.6)), refused: Some(0.5), rows: 50 };
    let policy = Policy { breaker, ..policy(folder.path()) };
    let server =
        Running::new(vec![Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap()]);
    learn(&server, 0..200);
    assert_eq!(server.get("/v1/models/m").ok()["paused"], Value::Null);
    let positive: String =
        (0..150).map(|k| format!("{{\"label\":1,\"site\":\"p{k}\"}}\n")).collect();
    server.post(LEARN, "application/x-ndjson", &positive).ok();
    let reason = || {
        // The learner may not have come to the record yet.
        for _ in 0..200 {
            let about = server.get("/v1/models/m").ok();
            if let Some(reason) = about["paused"]["reason"].as_str() {
                return reason.to_owned();
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("learning is not paused");
    };
    assert!(reason().contains("the breaker: the label rate of the last"), "{}", reason());
    server.json(RESUME, r#"{"backlog": "skip"}"#).ok();
    // Rows count, not requests; and a request of which some rows are bad.
    let bad = "{\"label\":\"odd\"}\n".repeat(30);
    assert_eq!(server.post(LEARN, "application/x-ndjson", &bad).status, 400);
    let some = format!("{}\n{bad}", row(300));
    server.post(&format!("{LEARN}?partial"), "application/x-ndjson", &some).ok();
    let metrics = server.get("/metrics");
    let line = "parsimon_refused_rows_total{model=\"m\",reason=\"bad\"} 60";
    assert!(metrics.text().contains(line), "{}", metrics.text());
    assert!(reason().contains("rows were refused, more than 0.5"), "{}", reason());
}

#[test]
fn what_the_breaker_cannot_watch_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let breaker = Breaker { labels: Some((0.1, 0.6)), ..Breaker::default() };
    let spec = Spec::new("ftrl").set("multiclass", true).set("classes", json!(["a", "b", "c"]));
    let policy = Policy { breaker, ..policy(folder.path()) };
    let error = Model::learning("m", &fresh(spec), policy).err().unwrap().to_string();
    assert!(error.contains("several classes"), "{error}");
}
