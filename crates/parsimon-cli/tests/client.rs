//! `parsimon client` against the service.

use serde_json::Value;

use crate::serve::{Served, program, row};

/// Runs the client; whether it succeeded, standard output, standard error.
fn client(served: &Served, args: &[&str]) -> (bool, String, String) {
    let url = format!("http://{}/v1/models/m", served.address);
    program(&[&["client", args[0], "--url", &url], &args[1..]].concat())
}

#[test]
fn files_are_scored_learned_labelled_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(&folder.path().join("data"), &[]);
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let text: String = (0..250).map(|k| row(k) + "\n").collect();
    let rows = file("rows.jsonl", &text);
    let (fine, _, words) = client(&served, &["learn", &rows, "--batch", "100"]);
    assert!(fine && words.contains("250 rows learned; record 4"), "{words}");
    // Rows with ids are learned once; rows without are by the key.
    let (_, _, words) = client(&served, &["learn", &rows]);
    assert!(words.contains("0 rows learned, 250 learned before"), "{words}");
    let vw = file("rows.vw", "1 |a b\n\n-1 |c d\n");
    for expected in ["2 rows learned;", "0 rows learned, 2 learned before"] {
        let (_, _, words) = client(&served, &["learn", &vw, "--key", "k"]);
        assert!(words.contains(expected), "{words}");
    }
    let (fine, scores, _) = client(&served, &["score", &rows, "--batch", "60"]);
    let scores: Vec<Value> = scores.lines().map(|s| serde_json::from_str(s).unwrap()).collect();
    assert!(fine && scores.len() == 250 && scores[7]["id"] == "r7", "{:?}", scores[7]);
    // A bad row is named by its line, and nothing of its request is learned; with --partial the others are.
    let bad = file("bad.vw", "1 |a b\n\nperhaps |c d\n1 |e\n");
    let (fine, _, words) = client(&served, &["learn", &bad]);
    assert!(!fine && words.contains("bad.vw:3:1: label \"perhaps\""), "{words}");
    let (fine, _, words) = client(&served, &["learn", &bad, "--partial"]);
    assert!(!fine && words.contains("bad.vw:3:1: label \"perhaps\""), "{words}");
    assert!(words.contains("2 rows learned, 1 refused"), "{words}");
    let table = file("rows.csv", "label,city\n1,\"Os\nlo\"\n0,Rome\nmaybe,Rome\n");
    let (fine, _, words) = client(&served, &["learn", &table]);
    assert!(!fine && words.contains("rows.csv:5:"), "{words}");
    // The first column is not taken for the label.
    let table = file("ages.csv", "age,city,bought\n1,Rome,1\n0,Oslo,0\n");
    let (fine, _, words) = client(&served, &["learn", &table]);
    assert!(!fine && words.contains("has no column that is surely the label"), "{words}");
    assert!(words.contains("The columns are age, city, bought"), "{words}");
    // Labels for rows that were scored.
    let waiting =
        file("waiting.jsonl", "{\"id\":\"w1\",\"site\":\"s1\"}\n{\"id\":\"w2\",\"site\":\"s1\"}\n");
    assert!(client(&served, &["score", &waiting]).1.contains("\"tracked\":true"));
    let labels = file("labels.jsonl", "{\"id\":\"w2\",\"label\":1}\n{\"id\":\"w1\",\"label\":0}\n");
    let (fine, _, words) = client(&served, &["label", &labels]);
    assert!(fine && words.contains("2 rows learned"), "{words}");
    let unknown =
        file("unknown.jsonl", "{\"id\":\"w1\",\"label\":0}\n{\"id\":\"w9\",\"label\":0}\n");
    let (fine, _, words) = client(&served, &["label", &unknown]);
    assert!(!fine && words.contains("unknown.jsonl:2:") && words.contains("w9"), "{words}");
    let more: String = (1000..1200).map(|k| row(k) + "\n").collect();
    let (fine, _, words) =
        client(&served, &["replay", &file("more.jsonl", &more), "--rate", "1e4", "--score"]);
    assert!(fine && words.contains("200 rows in") && words.contains("200 rows learned"), "{words}");
    assert_eq!(served.terminate(), 0);
}

#[test]
fn bench_keeps_its_schedule_and_counts_errors() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &[]);
    for op in ["score", "learn"] {
        let args =
            ["bench", "--op", op, "--rate", "200", "--seconds", "0.5", "--batch", "3", "--json"];
        let (fine, out, words) = client(&served, &args);
        assert!(fine, "{words}");
        let out: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&out["requests"], &out["answered"]), (&100.into(), &100.into()), "{out}");
        assert!(out["p50_ms"].as_f64() <= out["p99_9_ms"].as_f64(), "{out}");
        assert!(out["p99_9_ms"].as_f64() <= out["max_ms"].as_f64(), "{out}");
    }
    served.wait_for_rows(300);
    // Every answer is an error: rows of generated JSON are no labels.
    let missing = format!("http://{}/v1/models/other", served.address);
    let args = ["client", "bench", "--url", &missing, "--rate", "50", "--seconds", "0.2"];
    let (fine, out, words) = program(&args);
    assert!(!fine && out.contains("10: 404") && words.contains("no request"), "{out}{words}");
    served.kill();
}

#[test]
fn what_the_client_cannot_do_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let url = "http://127.0.0.1:9/v1/models/m";
    let refused = |args: &[&str], expected: &str| {
        let (fine, _, words) = program(&[&["client"], args].concat());
        assert!(!fine && words.contains(expected), "{args:?}: {words}");
    };
    let rows = path("a.jsonl", b"{\"a\":1}\n");
    refused(&["score", &rows, "--url", url], "127.0.0.1:9");
    let https = url.replace("http", "https");
    refused(&["score", &rows, "--url", &https], "https://127.0.0.1:9: connection refused");
    refused(&["score", &rows, "--url", "ftp://a/v1/models/m"], "https://");
    refused(&["score", &rows, "--url", "http://a/m"], "/v1/models/NAME");
    refused(&["score", "/nowhere.vw", "--url", url], "/nowhere.vw");
    refused(&["score", &path("list.json", b"[{\"a\":1}]"), "--url", url], "JSON list");
    refused(&["score", &path("a.vw", b""), "--url", url], "is empty");
    refused(&["score", &path("odd", b"hello world\n"), "--url", url], "pass --format");
    refused(&["score", &path("a.gz", b"\x1f\x8b\x08"), "--url", url], "zcat");
    refused(&["score", folder.path().to_str().unwrap(), "--url", url], "directory");
    refused(&["learn", &rows, "--url", url, "--key", "a b"], "--key");
    refused(&["replay", &rows, "--url", url, "--rate", "0"], "above 0");
    let token = path("token", b"two words\n");
    refused(&["score", &rows, "--url", url, "--token-file", &token], "the token");
}
