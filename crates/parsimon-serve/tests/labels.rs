//! Labels that come after the scores.

use std::time::{Duration, Instant};

use parsimon::Spec;
use parsimon_serve::{Labels, Model, Policy};
use serde_json::{Value, json};

use crate::common::{Running, fresh, learning, policy};

const SCORE: &str = "/v1/models/m/score";
const LABEL: &str = "/v1/models/m/label?ack=visible";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone()
}

#[test]
fn a_label_joins_the_row_that_was_scored() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let scored = server.json(SCORE, r#"{"id":"a","site":"x","age":3}"#).ok();
    assert_eq!(scored["tracked"], json!(true));
    // The first score of an id stays; rows without an id are not kept.
    assert_eq!(server.json(SCORE, r#"{"id":"a","site":"other"}"#).ok()["tracked"], json!(true));
    assert_eq!(server.json(SCORE, r#"{"site":"y"}"#).ok().get("tracked"), None);
    server.json(SCORE, r#"[{"id":7,"site":"y"},{"id":"b","site":"z"}]"#).ok();
    assert_eq!(server.get("/v1/models/m").ok()["pending_labels"], json!(3));
    assert_eq!(server.json(LABEL, r#"{"id":"q","label":1}"#).status, 404);
    assert_eq!(server.json(LABEL, r#"{"id":"a","label":5}"#).status, 400);
    assert_eq!(server.json(LABEL, r#"{"id":"a"}"#).status, 400);
    assert_eq!(server.json(LABEL, r#"{"id":"a","label":1,"x":2}"#).status, 400);
    let learned =
        server.json(LABEL, r#"[{"id":"a","label":1},{"id":7,"label":0,"weight":2}]"#).ok();
    assert_eq!(learned["learned"], json!(2));
    assert_eq!(server.get("/v1/models/m").ok()["pending_labels"], json!(1));
    let again = server.json(LABEL, r#"{"id":"a","label":1}"#).ok();
    assert_eq!((&again["duplicate"], &again["seq"]), (&json!(true), &learned["seq"]));
    let live = digest(&server);
    server.end();
    // The same as rows that came with their labels.
    let direct = tempfile::tempdir().unwrap();
    let other = Running::new(vec![learning(direct.path())]);
    let rows =
        "{\"label\":1,\"site\":\"x\",\"age\":3}\n{\"label\":0,\"weight\":2,\"site\":\"y\"}\n";
    other.post("/v1/models/m/learn?ack=visible", "application/x-ndjson", rows).ok();
    assert_eq!(digest(&other), live);
    // What waits is there after a restart.
    let server = Running::new(vec![learning(folder.path())]);
    assert_eq!(digest(&server), live);
    assert_eq!(server.get("/v1/models/m").ok()["pending_labels"], json!(1));
    assert_eq!(server.json(LABEL, r#"{"id":"b","label":0}"#).ok()["learned"], json!(1));
    assert_eq!(server.json(LABEL, r#"{"id":7,"label":0}"#).ok()["duplicate"], json!(true));
}

#[test]
fn an_id_that_stands_twice_in_a_request_is_learned_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    server.json(SCORE, r#"[{"id":"a","x":"1"},{"id":"b","x":"2"}]"#).ok();
    let two = r#"[{"id":"a","label":1},{"id":"a","label":0}]"#;
    assert!(server.json(LABEL, two).refused(409).contains("two labels"));
    let twice = r#"[{"id":"a","label":1},{"id":"b","label":0},{"id":"a","label":1}]"#;
    let answer = server.json(LABEL, twice).ok();
    assert_eq!(answer["learned"], json!(2));
    assert_eq!(answer["duplicates"], json!([{"row": 3, "seq": answer["seq"]}]));
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(2));
    let rows = r#"[{"id":"c","label":1,"x":"1"},{"id":"c","label":1,"x":"1"}]"#;
    server.json("/v1/models/m/learn?ack=visible", rows).ok();
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(3));
}

#[test]
fn when_there_is_no_room_the_answer_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy { pending_rows: 2, ..policy(folder.path()) };
    let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap();
    let server = Running::new(vec![model]);
    let rows = r#"[{"id":"a","x":1},{"id":"b","x":1}]"#;
    let rows = server.json(SCORE, rows).ok();
    assert_eq!((&rows[0]["tracked"], &rows[1]["tracked"]), (&json!(true), &json!(true)));
    assert_eq!(server.json(SCORE, r#"{"id":"c","x":1}"#).ok()["tracked"], json!(false));
    server.json(LABEL, r#"{"id":"a","label":1}"#).ok();
    assert_eq!(server.json(SCORE, r#"{"id":"c","x":1}"#).ok()["tracked"], json!(true));
}

fn window(learn_late: bool) -> (tempfile::TempDir, Running) {
    let folder = tempfile::tempdir().unwrap();
    let window = Duration::from_millis(300);
    let labels = Labels::Window { window, default: "0".into(), learn_late };
    let policy = Policy { labels, ..policy(folder.path()) };
    let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap();
    (folder, Running::new(vec![model]))
}

fn wait_for_rows(server: &Running, rows: u64) {
    let start = Instant::now();
    while server.get("/v1/models/m").ok()["rows"] != json!(rows) {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", server.get("/v1/models/m").text());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn rows_without_a_label_get_the_default_after_the_window() {
    for learn_late in [false, true] {
        let (folder, server) = window(learn_late);
        server.json(SCORE, r#"[{"id":"a","x":"1"},{"id":"b","x":"2"}]"#).ok();
        wait_for_rows(&server, 2);
        assert_eq!(server.get("/v1/models/m").ok()["pending_labels"], json!(0));
        let late = server.json(LABEL, r#"{"id":"b","label":1}"#).ok();
        match learn_late {
            true => assert_eq!(late["learned"], json!(1)),
            false => assert_eq!(late["duplicates"][0]["late"], json!(true)),
        }
        let live = digest(&server);
        server.end();
        let server = Running::new(vec![learning(folder.path())]);
        assert_eq!(digest(&server), live);
    }
}
