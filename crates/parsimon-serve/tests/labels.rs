//! Labels that come after the scores.

use std::time::{Duration, Instant};

use parsimon::Spec;
use parsimon_serve::{Labels, Model, Policy, Source};
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
        "{\"label\":1,\"site\":\"x\",\"age\":3}\n{\"label\":0,\"importance\":2,\"site\":\"y\"}\n";
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
fn when_there_is_no_room_the_oldest_row_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy { pending_rows: 2, ..policy(folder.path()) };
    let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap();
    let server = Running::new(vec![model]);
    let rows = r#"[{"id":"a","x":1},{"id":"b","x":1}]"#;
    let rows = server.json(SCORE, rows).ok();
    assert_eq!((&rows[0]["tracked"], &rows[1]["tracked"]), (&json!(true), &json!(true)));
    assert_eq!(server.json(SCORE, r#"{"id":"c","x":1}"#).ok()["tracked"], json!(true));
    assert!(server.json(LABEL, r#"{"id":"a","label":1}"#).refused(404).contains("unknown"));
    assert_eq!(server.json(LABEL, r#"{"id":"b","label":1}"#).ok()["learned"], json!(1));
    let metrics = server.get("/metrics");
    assert!(metrics.text().contains("parsimon_evicted_rows_total{model=\"m\"} 1\n"));
    // More rows than there are places: none of them takes the place of another.
    let rows = r#"[{"id":"d","x":1},{"id":"e","x":1},{"id":"f","x":1}]"#;
    assert_eq!(server.json(SCORE, rows).ok()[0]["tracked"], json!(false));
}

#[test]
fn an_id_is_learned_once_in_whatever_order_its_row_and_label_come() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let learn = |body: &str| server.json("/v1/models/m/learn?ack=visible", body);
    // Scored, learned with its label, and labelled.
    server.json(SCORE, r#"{"id":"a","x":"1"}"#).ok();
    learn(r#"{"id":"a","x":"1","label":1}"#).ok();
    assert_eq!(server.json(LABEL, r#"{"id":"a","label":1}"#).ok()["duplicate"], json!(true));
    assert!(server.json(LABEL, r#"{"id":"a","label":0}"#).refused(409).contains("another label"));
    // Scored, labelled, and sent with its label.
    server.json(SCORE, r#"{"id":"b","x":"1"}"#).ok();
    server.json(LABEL, r#"{"id":"b","label":0}"#).ok();
    assert_eq!(learn(r#"{"id":"b","x":"1","label":0}"#).ok()["duplicate"], json!(true));
    learn(r#"{"id":"b","x":"1","label":1}"#).refused(409);
    server.json(LABEL, r#"{"id":"b","label":1}"#).refused(409);
    let about = server.get("/v1/models/m").ok();
    assert_eq!((&about["rows"], &about["pending_labels"]), (&json!(2), &json!(0)));
    server.end();
    let server = Running::new(vec![learning(folder.path())]);
    server.json(LABEL, r#"{"id":"b","label":1}"#).refused(409);
    assert_eq!(server.json(LABEL, r#"{"id":"a","label":1}"#).ok()["duplicate"], json!(true));
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(2));
}

#[test]
fn an_id_that_is_empty_or_null_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    for id in ["\"\"", "null", "1.5", "[]"] {
        let row = format!("{{\"id\":{id},\"label\":1,\"x\":\"1\"}}");
        for path in [SCORE, "/v1/models/m/learn", LABEL] {
            let refused = server.json(path, &row).refused(400);
            assert!(refused.contains("a text that is not empty, or a whole number"), "{refused}");
        }
    }
}

/// A model whose column `n` holds numbers.
fn with_schema(data: &std::path::Path, labels: Labels) -> Model {
    use parsimon::data::TableSchema;
    use parsimon::workspace::{ColumnKind, Kind, Points};
    use parsimon::{InputSchema, LearnerOptions};
    let column = |name: &str, kind| ColumnKind {
        name: name.into(),
        kind,
        form: None,
        missing: Vec::new(),
        knots: Points::default(),
        cuts: Points::default(),
    };
    let columns = vec![column("label", Kind::Category), column("n", Kind::Number)];
    let label_column = Some("label".to_owned());
    let table = TableSchema { columns, label: label_column.clone(), ..TableSchema::default() };
    let schema =
        InputSchema { bits: Some(18), table: Some(table), label_column, ..InputSchema::default() };
    let settings = Box::new(Spec::new("ftrl").set("normalize", true).resolve().unwrap());
    let options = LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() };
    let source = parsimon_serve::Source::Fresh {
        settings,
        options,
        schema: Box::new(schema),
        finds_kinds: false,
    };
    Model::learning("m", &source, Policy { labels, ..policy(data) }).unwrap()
}

#[test]
fn a_row_that_cannot_be_learned_is_set_aside_and_blocks_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![with_schema(folder.path(), Labels::default())]);
    server.json(SCORE, r#"[{"id":"a","n":"word"},{"id":"b","n":2}]"#).ok();
    let answer = server.json(LABEL, r#"[{"id":"a","label":1},{"id":"b","label":0}]"#).ok();
    assert_eq!((&answer["learned"], &answer["set_aside"]), (&json!(1), &json!([{"row": 1}])));
    let again = server.json(LABEL, r#"{"id":"a","label":1}"#).ok();
    assert_eq!(again["duplicates"][0]["set_aside"], json!(true));
    server.json(LABEL, r#"{"id":"a","label":0}"#).refused(409);
    let aside = server.get("/v1/models/m/set-aside").ok();
    assert_eq!((&aside["count"], &aside["rows"][0]["id"]), (&json!(1), &json!("a")));
    let why = aside["rows"][0]["why"].as_str().unwrap();
    assert!(why.contains("\"word\" is not a number"), "{why}");
    server.end();
    let mut out = Vec::new();
    let count = parsimon_serve::archive::export_set_aside(&folder.path().join("m"), &mut out);
    assert_eq!(count.unwrap(), 1);
    let line: Value = serde_json::from_slice(&out).unwrap();
    assert_eq!((&line["id"], &line["row"]["n"]), (&json!("a"), &json!("word")));
    // A restart knows it, and the row that is corrected is learned.
    let server = Running::new(vec![with_schema(folder.path(), Labels::default())]);
    assert_eq!(server.get("/v1/models/m/set-aside").ok()["rows"], aside["rows"]);
    let mended = r#"{"id":"a","n":3,"label":1}"#;
    let learned = server.json("/v1/models/m/learn?ack=visible", mended).ok();
    assert_eq!(learned["learned"], json!(1));
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(2));
}

#[test]
fn one_bad_row_does_not_stop_the_windows_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let window = Duration::from_millis(100);
    let labels = Labels::Window { window, default: "0".into(), learn_late: false };
    let server = Running::new(vec![with_schema(folder.path(), labels)]);
    server.json(SCORE, r#"[{"id":"a","n":1},{"id":"b","n":"word"},{"id":"c","n":2}]"#).ok();
    wait_for_rows(&server, 2);
    let metrics = server.get("/metrics");
    assert!(metrics.text().contains("parsimon_set_aside_rows_total{model=\"m\"} 1\n"));
    assert_eq!(server.get("/v1/models/m").ok()["pending_labels"], json!(0));
}

#[test]
fn a_clock_that_jumps_changes_no_window() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    const HOUR: u64 = 3_600_000;
    for jump in [-(HOUR as i64), 2 * HOUR as i64] {
        let folder = tempfile::tempdir().unwrap();
        let (wall, steady) = (Arc::new(AtomicU64::new(9 * HOUR)), Arc::new(AtomicU64::new(5)));
        let read = |clock: &Arc<AtomicU64>| -> Arc<dyn Fn() -> u64 + Send + Sync> {
            let clock = clock.clone();
            Arc::new(move || clock.load(Ordering::Relaxed))
        };
        let clock = parsimon_log::Clock { wall: read(&wall), steady: read(&steady) };
        let window = Duration::from_secs(600);
        let labels = Labels::Window { window, default: "0".into(), learn_late: false };
        let policy = Policy { labels, clock, ..policy(folder.path()) };
        let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap();
        let server = Running::new(vec![model]);
        server.json(SCORE, r#"{"id":"a","x":"1"}"#).ok();
        wall.fetch_add(jump as u64, Ordering::Relaxed);
        steady.fetch_add(600_000 - 20, Ordering::Relaxed);
        // The learner looks at the windows every 20 ms of the test.
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(0), "{jump}");
        steady.fetch_add(20, Ordering::Relaxed);
        wait_for_rows(&server, 1);
    }
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

/// Ids that are no text and no whole number, and null, are refused before and after the kinds of columns are known; digits stay
/// digits when a label joins a row.
#[test]
fn ids_and_digits_are_what_they_were_when_the_label_comes() {
    let folder = tempfile::tempdir().unwrap();
    let source = match fresh(Spec::new("ftrl").set("normalize", true).set("l1", 0.0)) {
        Source::Fresh { settings, options, schema, .. } => {
            Source::Fresh { settings, options, schema, finds_kinds: true }
        }
        other => other,
    };
    let open = || {
        let policy = Policy { warm_rows: 4, ..policy(folder.path()) };
        Model::learning("m", &source, policy).unwrap()
    };
    let server = Running::new(vec![open()]);
    let learn = "/v1/models/m/learn?ack=visible";
    for is_warm in [false, true] {
        for id in ["\"\"", "null", "1.5", "100000000000000000000000", "-0", "[1]", "true"] {
            for address in ["/v1/models/m/score", learn] {
                let row = format!("{{\"id\":{id},\"code\":\"a\",\"label\":1}}");
                let refused = server.json(address, &row).refused(400);
                assert!(refused.contains("\"id\" is"), "{is_warm} {id}: {refused}");
            }
        }
        let code = |k: u64| {
            format!("\"code\":\"{}\"", ["a", "b", "123456789012345678901"][(k % 3) as usize])
        };
        let rows: String =
            (0..9).map(|k| format!("{{{},\"label\":{}}}\n", code(k), k % 2)).collect();
        server.post(learn, "application/x-ndjson", &rows).ok();
    }
    let row = "\"code\":987654321098765432109";
    let known = || server.json(SCORE, &format!("{{{row}}}")).ok()["known"].clone();
    assert_eq!(known(), json!(0));
    // A feature of a single row reads as zero.
    for id in ["x", "y"] {
        server.json(SCORE, &format!("{{\"id\":\"{id}\",{row}}}")).ok();
        server.json(LABEL, &format!("{{\"id\":\"{id}\",\"label\":1}}")).ok();
    }
    assert_eq!(known(), json!(1));
    let before = digest(&server);
    server.end();
    let server = Running::new(vec![open()]);
    assert_eq!(digest(&server), before);
}
