//! A new model without a schema collects its first rows, and reads every format alike once they have shown the kinds of columns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parsimon::Spec;
use parsimon_serve::{Model, Policy, Source};
use serde_json::{Value, json};

use crate::common::{Running, fresh, policy};

const LEARN: &str = "/v1/models/m/learn";
const SCORE: &str = "/v1/models/m/score";

/// A model that finds the kinds of columns in its first rows.
fn finding(spec: Spec) -> Source {
    match fresh(spec) {
        Source::Fresh { settings, options, schema, .. } => {
            Source::Fresh { settings, options, schema, finds_kinds: true }
        }
        other => other,
    }
}

fn specs() -> [Spec; 2] {
    [Spec::new("auto").set("loss", "logistic"), Spec::new("ftrl").set("normalize", true)]
}

/// A row of a table: age, a code that looks like a number, a city, and the label.
fn cells(k: u64) -> [String; 4] {
    let (age, city) = (18 + k * 13 % 60, ["Rome", "Oslo", "Bern"][(k * 7 % 3) as usize]);
    let label = u8::from((age + k % 3) % 5 < 2);
    [
        age.to_string(),
        format!("{}", 1e4 * (k * 31 % 17) as f64 + 0.5),
        city.into(),
        label.to_string(),
    ]
}

fn json_rows(range: std::ops::Range<u64>) -> String {
    let row = |k| {
        let [age, balance, city, label] = cells(k);
        format!("{{\"age\":{age},\"balance\":{balance},\"city\":\"{city}\",\"label\":{label}}}\n")
    };
    range.map(row).collect()
}

fn table(range: std::ops::Range<u64>, sign: &str) -> String {
    let head = ["age", "balance", "city", "label"].join(sign);
    range.fold(head + "\n", |text, k| text + &cells(k).join(sign) + "\n")
}

fn bodies(range: std::ops::Range<u64>) -> [(&'static str, String); 4] {
    let json = json_rows(range.clone());
    let list = format!("[{}]", json.trim_end().replace('\n', ","));
    [
        ("application/x-ndjson", json),
        ("application/json", list),
        ("text/csv", table(range.clone(), ",")),
        ("text/tab-separated-values", table(range, "\t")),
    ]
}

fn scores(server: &Running, format: &str, body: &str) -> Vec<Value> {
    let answer = server.post(SCORE, format, body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    match answer.text().trim_start().starts_with('[') {
        true => serde_json::from_str(answer.text()).unwrap(),
        false => answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

fn policy_of(folder: &std::path::Path) -> Policy {
    Policy { warm_rows: 40, warm_time: Duration::from_secs(1 << 30), ..policy(folder) }
}

#[test]
fn all_pairs_of_formats_give_the_same_scores() {
    for spec in specs() {
        let mut expected: Option<(Vec<Value>, Value)> = None;
        for learned in 0..4 {
            let folder = tempfile::tempdir().unwrap();
            let open =
                || Model::learning("m", &finding(spec.clone()), policy_of(folder.path())).unwrap();
            let server = Running::new(vec![open()]);
            for part in [0..25, 25..60, 60..75] {
                let (format, body) = &bodies(part)[learned];
                server.post(LEARN, format, body).ok();
            }
            let (format, body) = &bodies(75..80)[learned];
            server.post(&format!("{LEARN}?ack=visible"), format, body).ok();
            let digest = server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone();
            for (format, body) in bodies(500..530) {
                let found = scores(&server, format, &body);
                let of = |row: &Value| {
                    assert!(row["warming"].is_null());
                    row["prediction"].clone()
                };
                let found: Vec<Value> = found.iter().map(of).collect();
                let (scores, first) = expected.get_or_insert((found.clone(), digest.clone()));
                assert_eq!(*scores, found, "learned {learned}, scored {format}");
                assert_eq!(*first, digest);
            }
            // Labels are those that were sent.
            assert_eq!(server.get("/v1/models/m").ok()["classes"], json!(["0", "1"]));
            server.end();
            // The boundary is a record: the log leads to the same state, with and without a snapshot.
            for is_without in [false, true] {
                if is_without {
                    for entry in std::fs::read_dir(folder.path().join("m")).unwrap() {
                        let path = entry.unwrap().path();
                        if path.file_name().unwrap().to_string_lossy().starts_with("snap-") {
                            std::fs::remove_file(path).unwrap();
                        }
                    }
                }
                let server = Running::new(vec![open()]);
                assert_eq!(server.get("/v1/models/m?digest").ok()["digest"]["digest"], digest);
                let found = scores(&server, "text/csv", &table(500..530, ","));
                let found: Vec<Value> = found.iter().map(|row| row["prediction"].clone()).collect();
                assert_eq!(expected.as_ref().unwrap().0, found);
                server.end();
            }
        }
    }
}

#[test]
fn scores_are_the_constant_until_the_kinds_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let open =
        || Model::learning("m", &finding(specs()[0].clone()), policy_of(folder.path())).unwrap();
    let server = Running::new(vec![open()]);
    let answer = server.post(LEARN, "application/x-ndjson", &json_rows(0..39)).ok();
    assert_eq!(answer["learned"], 39);
    let constant = |server: &Running| {
        let row = &scores(server, "application/x-ndjson", &json_rows(0..1))[0];
        assert_eq!((row["prediction"].clone(), row["warming"].clone()), (json!(0.5), json!(true)));
        assert_eq!(server.get("/v1/models/m").ok()["warming"], true);
    };
    constant(&server);
    server.json("/v1/models/m/pause", "{}").refused(409);
    server.send("POST", "/v1/models/m/snapshot", &[], b"").refused(503);
    server.end();
    // A restart collects on.
    let server = Running::new(vec![open()]);
    constant(&server);
    let answer = server.post(&format!("{LEARN}?ack=visible"), "text/csv", &table(39..40, ",")).ok();
    assert_eq!(answer["ack"], "visible");
    let row = &scores(&server, "application/x-ndjson", &json_rows(0..1))[0];
    assert!(row["warming"].is_null() && row["prediction"] != 0.5, "{row}");
    assert_eq!(server.get("/v1/models/m").ok()["rows"], 40);
}

#[test]
fn ten_seconds_of_log_time_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(5000));
    let clock = time.clone();
    let policy = Policy {
        clock: parsimon_log::Clock::both(move || clock.load(Ordering::Relaxed)),
        ..policy(folder.path())
    };
    let model = Model::learning("m", &finding(specs()[0].clone()), policy).unwrap();
    let server = Running::new(vec![model]);
    server.post(LEARN, "application/x-ndjson", &json_rows(0..30)).ok();
    time.fetch_add(9999, Ordering::Relaxed);
    server.post(LEARN, "application/x-ndjson", &json_rows(30..31)).ok();
    assert_eq!(server.get("/v1/models/m").ok()["warming"], true);
    time.fetch_add(1, Ordering::Relaxed);
    server.post(&format!("{LEARN}?ack=visible"), "text/csv", &table(31..32, ",")).ok();
    assert!(server.get("/v1/models/m").ok()["warming"].is_null());
}

#[test]
fn a_repeat_from_before_the_kinds_were_known_is_a_duplicate() {
    let folder = tempfile::tempdir().unwrap();
    let open =
        || Model::learning("m", &finding(specs()[0].clone()), policy_of(folder.path())).unwrap();
    let with_id =
        |k: u64| json_rows(k..k + 1).replace("{\"age\"", &format!("{{\"id\":\"r{k}\",\"age\""));
    let rows = |range: std::ops::Range<u64>| range.map(with_id).collect::<String>();
    let server = Running::new(vec![open()]);
    server.post(LEARN, "application/x-ndjson", &rows(0..30)).ok();
    let headers = [("idempotency-key", "k"), ("content-type", "text/csv")];
    let keyed = table(100..105, ",");
    server.send("POST", LEARN, &headers, keyed.as_bytes()).ok();
    server.post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &rows(30..60)).ok();
    let check = |server: &Running| {
        let again = server.post(LEARN, "application/x-ndjson", &rows(20..50)).ok();
        assert_eq!((again["learned"].clone(), again["duplicate"].clone()), (json!(0), json!(true)));
        let again = server.send("POST", LEARN, &headers, keyed.as_bytes()).ok();
        assert_eq!(again["duplicate"], true);
        let other = with_id(3).replace("\"age\":", "\"age\":1");
        server.json(LEARN, &other).refused(409);
    };
    check(&server);
    server.end();
    check(&Running::new(vec![open()]));
}

#[test]
fn rows_without_kinds_need_no_warming() {
    for (format, body) in [("text/x-vw", "1 |a b:2\n"), ("text/x-svmlight", "1 3:0.5\n")] {
        let folder = tempfile::tempdir().unwrap();
        let model =
            Model::learning("m", &finding(specs()[0].clone()), policy_of(folder.path())).unwrap();
        let server = Running::new(vec![model]);
        server.post(&format!("{LEARN}?ack=visible"), format, body).ok();
        let about = server.get("/v1/models/m").ok();
        assert!(about["warming"].is_null() && about["rows"] == 1, "{about}");
        // Each cell is understood on its own from here on, in every format.
        let of = |format: &str, body: &str| scores(&server, format, body)[0]["prediction"].clone();
        server.post(&format!("{LEARN}?ack=visible"), "text/csv", "label,age\n1,30\n").ok();
        assert_eq!(of("text/csv", "age\n41\n"), of("application/json", "{\"age\":41}"));
    }
}

/// Milliseconds since 1970 and other large numbers are taken before the kinds of columns are known as they are after that.
#[test]
fn large_numbers_are_taken_in_single_precision() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let Source::Fresh { settings, mut options, schema, .. } = finding(specs()[0].clone())
        else {
            unreachable!()
        };
        options.precision = parsimon::settings::Precision::F32;
        let source = Source::Fresh { settings, options, schema, finds_kinds: true };
        Model::learning("m", &source, policy_of(folder.path())).unwrap()
    };
    let row = |k: u64| format!("{{\"at\":{},\"label\":{}}}\n", 1_700_000_000_000 + 1000 * k, k % 2);
    let rows = |range: std::ops::Range<u64>| range.map(row).collect::<String>();
    let server = Running::new(vec![open()]);
    server.post(LEARN, "application/x-ndjson", &rows(0..30)).ok();
    let learn = format!("{LEARN}?ack=visible");
    server.post(&learn, "application/x-ndjson", &rows(30..60)).ok();
    server.post(&learn, "application/x-ndjson", &rows(60..70)).ok();
    let found = scores(&server, "application/x-ndjson", &rows(5..6));
    let csv = scores(&server, "text/csv", "at,label\n1700000005000,1\n");
    assert_eq!(found[0]["prediction"], csv[0]["prediction"]);
    let digest = server.get("/v1/models/m?digest").ok()["digest"].clone();
    assert_eq!(server.get("/v1/models/m").ok()["rows"], 70);
    server.end();
    let server = Running::new(vec![open()]);
    assert_eq!(server.get("/v1/models/m?digest").ok()["digest"], digest);
}

/// A row whose label is likely in the middle of the ages.
fn bent(k: u64) -> (u64, &'static str, u8) {
    let (age, city) = (18 + k * 13 % 61, ["Rome", "Oslo", "Bern"][(k * 7 % 3) as usize]);
    (age, city, u8::from((32..55).contains(&age) != k.is_multiple_of(17)))
}

#[test]
fn a_column_that_bends_gets_a_curve_from_the_first_rows() {
    let json = |rows: std::ops::Range<u64>| -> String {
        let row = |k| {
            let (age, city, label) = bent(k);
            format!("{{\"id\":\"r{k}\",\"age\":{age},\"city\":\"{city}\",\"label\":{label}}}\n")
        };
        rows.map(row).collect()
    };
    let csv = |rows: std::ops::Range<u64>| -> String {
        let row = |k| {
            let (age, city, label) = bent(k);
            format!("r{k},{age},{city},{label}\n")
        };
        "id,age,city,label\n".to_owned() + &rows.map(row).collect::<String>()
    };
    let mut expected: Option<Value> = None;
    for is_csv in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let policy = Policy { warm_rows: 600, ..policy_of(folder.path()) };
        let open = || Model::learning("m", &finding(specs()[0].clone()), policy.clone()).unwrap();
        let server = Running::new(vec![open()]);
        for rows in [0..250, 250..600] {
            let (format, body) =
                if is_csv { ("text/csv", csv(rows)) } else { ("application/x-ndjson", json(rows)) };
            server.post(LEARN, format, &body).ok();
        }
        server.post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &json(600..900)).ok();
        let model = parsimon::Model::from_bytes(&server.get("/v1/models/m/download").body).unwrap();
        let table = model.schema().table.as_ref().unwrap();
        assert!(!table.column("age").unwrap().knots.is_empty(), "{table:?}");
        // No line predicts a hill.
        let rows = "{\"age\":20,\"city\":\"Rome\"}\n{\"age\":43,\"city\":\"Rome\"}\n{\"age\":75,\"city\":\"Rome\"}\n";
        let found = scores(&server, "application/x-ndjson", rows);
        let at = |row: usize| found[row]["prediction"].as_f64().unwrap();
        assert!(at(0) < 0.3 && at(1) > 0.7 && at(2) < 0.3, "{found:?}");
        let digest = server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone();
        assert_eq!(*expected.get_or_insert_with(|| digest.clone()), digest);
        server.end();
        // The log has the knots.
        let server = Running::new(vec![open()]);
        assert_eq!(server.get("/v1/models/m?digest").ok()["digest"]["digest"], digest);
        server.end();
    }
}
