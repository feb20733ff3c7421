//! Every table of `data/` against `expected.json`.

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::fixture::Dir;

/// A learner that keeps every feature, in a small table.
const PLAIN: &str = "-a ftrl --l1 0 --loss logistic --bits 16 --quiet";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tables")
}

fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn text<'a>(case: &'a Value, key: &str) -> Option<&'a str> {
    case.get(key).map(|value| value.as_str().unwrap())
}

#[test]
fn every_table_is_expected_and_there() {
    let mut listed: Vec<_> = cases().iter().map(|c| text(c, "file").unwrap().to_owned()).collect();
    let entries = std::fs::read_dir(folder().join("data")).unwrap();
    let mut there: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    listed.sort();
    there.sort();
    assert_eq!(listed, there);
    assert!(there.len() >= 42);
}

#[test]
fn every_trap_is_seen() {
    for case in cases() {
        let name = text(&case, "file").unwrap();
        let bytes = std::fs::read(folder().join("data").join(name)).unwrap();
        let dir = Dir::new();
        dir.write(name, &bytes);
        let flags = text(&case, "flags").unwrap_or_default();
        let learning = format!("{flags} {PLAIN}");
        if let Some(error) = text(&case, "error") {
            let words = format!("train {name} {learning}");
            assert_eq!(dir.run(&words).fails(1), format!("error: {error}"));
            continue;
        }
        let schema = dir.run(&format!("schema {name} {flags} -o s.json"));
        schema.ok();
        let schema: Value = serde_json::from_slice(&dir.read("s.json")).unwrap();
        let mut expected = json!({ "label": case["label"], "columns": case["columns"] });
        for key in ["weight", "missing", "ngrams"] {
            if let Some(value) = case.get(key) {
                expected[key] = value.clone();
            }
        }
        assert_eq!(schema, expected, "{name}");
        runs_alike(&dir, name, &bytes, &case, &learning);
    }
}

/// A file, its written schema, the file compressed, and the same rows on standard input give the same model.
fn runs_alike(dir: &Dir, name: &str, bytes: &[u8], case: &Value, learning: &str) {
    let ran = dir.run(&format!("train {name} {learning} -o m.psm"));
    match text(case, "warning") {
        Some(warning) => assert!(ran.stderr.contains(warning), "{name}: {}", ran.stderr),
        None => assert_eq!(ran.stderr, "", "{name}"),
    }
    ran.ok();
    let model: Value = dir.run("inspect m.psm --json").json();
    assert!(model["nonzeros"].as_u64().unwrap() > 0, "{name}");
    let is_widened = case.get("widened").is_some();
    if !is_widened && text(case, "flags").is_none_or(|flags| !flags.contains("header")) {
        dir.run(&format!("train {name} {PLAIN} --schema s.json -o n.psm")).ok();
        assert!(dir.read("n.psm") == dir.read("m.psm"), "{name}: with its schema");
    }
    dir.run(&format!("predict m.psm {name} -o p.txt")).ok();
    dir.run(&format!("evaluate m.psm {name}")).ok();
    let predictions = dir.read("p.txt");
    let classes = model["reading"]["classes"].as_array().unwrap();
    let classes: Vec<_> = classes.iter().map(|class| class.as_str().unwrap()).collect();
    let format = name.rsplit('.').next().unwrap();
    let learning = format!("--format {format} --classes {} {learning}", classes.join(","));
    // Models have the names of their inputs: all of these have one.
    dir.write("stdin", bytes);
    dir.run(&format!("train stdin {learning} -o file.psm")).ok();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    dir.write("stdin", packed.finish().unwrap());
    dir.run(&format!("train stdin {learning} -o packed.psm")).ok();
    assert!(dir.read("packed.psm") == dir.read("file.psm"), "{name}: compressed");
    dir.run(&format!("predict m.psm stdin --format {format} -o q.txt")).ok();
    assert!(dir.read("q.txt") == predictions, "{name}: predictions, compressed");
    // A cache has the schema in it, and no flags of the table.
    let flags = text(case, "flags").unwrap_or_default();
    dir.run(&format!("convert {name} {flags} --bits 16 -o stdin")).ok();
    let plain = format!("--classes {} {PLAIN}", classes.join(","));
    dir.run(&format!("train stdin --format cache {plain} -o cached.psm")).ok();
    assert!(dir.read("cached.psm") == dir.read("file.psm"), "{name}: cached");
    dir.run("predict m.psm stdin --format cache -o q.txt").ok();
    assert!(dir.read("q.txt") == predictions, "{name}: predictions, cached");
    let stream = dir.run_with(&format!("train - {learning} -o stream.psm"), bytes);
    match text(case, "stream_error") {
        Some(error) => {
            let words = stream.fails(1);
            assert!(words.starts_with(&format!("error: {error}")), "{name}: {words}");
        }
        None => {
            stream.ok();
            assert!(dir.read("stream.psm") == dir.read("file.psm"), "{name}: standard input");
        }
    }
    dir.run_with(&format!("predict m.psm - --format {format} -o q.txt"), bytes).ok();
    assert!(dir.read("q.txt") == predictions, "{name}: predictions, standard input");
}
