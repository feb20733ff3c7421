//! Rows that are learned: acknowledged, once, all or none.

use parsimon::Spec;
use parsimon_serve::{Model, Policy};
use serde_json::json;

use crate::common::{Running, fresh, learning, policy, row, rows, send};

const LEARN: &str = "/v1/models/m/learn";

fn digest(server: &Running) -> serde_json::Value {
    server.get("/v1/models/m?digest").ok()["digest"].clone()
}

#[test]
fn rows_are_learned_and_scores_follow() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let score = || server.json("/v1/models/m/score", r#"{"site":"s1","user":"u1"}"#).ok();
    let before = score();
    assert_eq!((&before["prediction"], &before["known"]), (&json!(0.5), &json!(0)));
    let answer =
        server.post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &rows(0..500)).ok();
    assert_eq!(answer, json!({"seq": 2, "learned": 500, "ack": "visible"}));
    let after = score();
    assert_ne!(after["prediction"], before["prediction"]);
    assert_ne!(after["known"], json!(0));
    assert_eq!(after["version"], json!({"epoch": 1, "seq": 2}));
    let vw = server.post(LEARN, "text/x-vw", "1 |a b c\n-1 |a d\n").ok();
    assert_eq!(vw, json!({"seq": 3, "learned": 2, "ack": "durable"}));
    let about = server.get("/v1/models/m").ok();
    assert_eq!((&about["accepting"], &about["durable_seq"]), (&json!(true), &json!(3)));
    for ack in ["logged", "durable", "visible"] {
        let answer = server.post(&format!("{LEARN}?ack={ack}"), "text/x-vw", "1 |a b\n").ok();
        assert_eq!(answer["ack"], json!(ack));
    }
    assert_eq!(server.post(&format!("{LEARN}?ack=soon"), "text/x-vw", "1 |a b\n").status, 400);
    let metrics = server.get("/metrics");
    assert!(
        metrics.text().contains("parsimon_learned_rows_total{model=\"m\"} 505"),
        "{}",
        metrics.text()
    );
    let model = parsimon::Model::from_bytes(&server.get("/v1/models/m/download").body).unwrap();
    assert_eq!(model.provenance().rows, 505);
    assert!(model.heads()[0].indices().iter().any(|&j| model.name(j) == "site=s1"));
}

#[test]
fn a_row_is_learned_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let first = server.json(LEARN, &row(1)).ok();
    assert_eq!(first["seq"], json!(2));
    let state = digest(&server);
    // The same row, written in another way.
    let again = row(1).replace(':', " : ");
    let repeat = server.json(LEARN, &again).ok();
    assert_eq!(
        (&repeat["seq"], &repeat["learned"], &repeat["duplicate"]),
        (&json!(2), &json!(0), &json!(true))
    );
    let other = row(1).replace("\"age\":1", "\"age\":2");
    let refusal = server.json(LEARN, &other);
    assert!(refusal.refused(409).contains("\"r1\""), "{}", refusal.text());
    assert_eq!(refusal.value()["seq"], json!(2));
    assert_eq!(digest(&server), state);
    // Some new, one known, one twice in the request.
    let mixed = rows(0..4) + &row(3);
    let answer = server.post(LEARN, "application/x-ndjson", &mixed).ok();
    assert_eq!((&answer["seq"], &answer["learned"]), (&json!(3), &json!(3)));
    assert_eq!(answer["duplicates"], json!([{"row": 2, "seq": 2}, {"row": 5, "seq": 3}]));
    let twice = format!("{}\n{}", row(9), row(9).replace("\"label\":0", "\"label\":1"));
    assert_eq!(server.post(LEARN, "application/x-ndjson", &twice).status, 409);
    // A key stands for a request, in any format. Tags of VW text are no ids.
    let keyed = |text: &str| {
        let headers = [("content-type", "text/x-vw"), ("idempotency-key", "k1")];
        server.send("POST", LEARN, &headers, text.as_bytes())
    };
    assert_eq!(keyed("1 t|a b\n").ok()["seq"], json!(4));
    assert_eq!(
        keyed("1 t|a b\n").ok(),
        json!({"seq": 4, "learned": 0, "duplicate": true, "duplicates": [{"row": 1, "seq": 4}], "ack": "durable"})
    );
    assert_eq!(keyed("1 t|a c\n").status, 409);
    assert_eq!(server.post(LEARN, "text/x-vw", "1 t|a b\n").ok()["learned"], json!(1));
}

#[test]
fn a_bad_row_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    server.post(LEARN, "application/x-ndjson", &rows(0..20)).ok();
    let state = digest(&server);
    let bad = [
        ("application/x-ndjson", format!("{}\n{{\"label\":7}}\n", row(50))),
        ("application/x-ndjson", format!("{}\n{{\"site\":\"x\"}}\n", row(51))),
        ("application/json", "[{\"label\":1},{\"label\":]".into()),
        ("application/json", "[1]".into()),
        ("application/json", "{\"label\":1,\"id\":[2]}".into()),
        ("text/x-vw", "1 |a b:x\n".into()),
        ("text/x-vw", "|a b\n".into()),
        ("text/csv", "label,a\n1,2\n3,4\n".into()),
        ("text/csv", "a,a\n".into()),
        ("text/x-vw", String::new()),
    ];
    for (content_type, body) in &bad {
        let answer = server.post(LEARN, content_type, body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
    }
    let line = server.post(LEARN, bad[0].0, &bad[0].1).value();
    assert_eq!((&line["line"], &line["token"]), (&json!(2), &json!("7")));
    assert_eq!(digest(&server), state, "nothing was learned");
    // Row by row.
    let body = format!("{}\n{{\"label\":7}}\n{}\nnonsense\n", row(60), row(61));
    let answer = server.post(&format!("{LEARN}?partial"), "application/x-ndjson", &body).ok();
    assert_eq!(answer["learned"], json!(2));
    let refused = answer["refused"].as_array().unwrap();
    assert_eq!((refused.len(), &refused[0]["row"], &refused[1]["line"]), (2, &json!(2), &json!(4)));
    let none = server.post(&format!("{LEARN}?partial"), "application/x-ndjson", "{\"label\":7}\n");
    assert_eq!(none.status, 400);
    assert_eq!(server.post(LEARN, "text/csv", "label,a\n1,2\n").ok()["learned"], json!(1));
}

/// The program names the flag in its place, and Python the keyword.
#[test]
fn a_remedy_is_a_field_of_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    let answer = server.post(LEARN, "text/csv", "age,city\n1,Rome\n0,Oslo\n");
    assert_eq!(answer.status, 400);
    let value = answer.value();
    assert_eq!(
        value["error"],
        "body: has no column that is surely the label; name it with the field \"label\". The columns are age, city"
    );
    assert_eq!(value["remedy"], json!({"field": "label", "columns": ["age", "city"]}));
}

#[test]
fn what_is_too_much_is_refused_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let policy = Policy { queue_rows: 5, ..policy(folder.path()) };
    let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy).unwrap();
    let server = Running::new(vec![model]);
    // A request larger than the queue is taken when nothing waits.
    server.post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &rows(0..50)).ok();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let send = |k: u64| {
            let headers = [("content-type", "application/x-ndjson")];
            let body = rows(100 * k..100 * k + 90);
            send(server.address, "POST", LEARN, &headers, body.as_bytes()).unwrap()
        };
        let threads: Vec<_> = (1..9).map(|k| scope.spawn(move || send(k))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut learned = 50;
    for answer in answers {
        match answer.status {
            200 => learned += 90,
            _ => {
                assert!(answer.refused(429).contains("try again"), "{}", answer.text());
                assert!(answer.head.contains("retry-after: 1"), "{}", answer.head);
            }
        }
    }
    server.post(&format!("{LEARN}?ack=visible"), "text/x-vw", "1 |a b\n").ok();
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(learned + 1));
}
