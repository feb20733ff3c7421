//! Cells that contradict what the first 10,000 rows show.

use super::table;
use crate::fixture::Dir;

/// A table whose first rows do not show what is in its last.
fn surprising() -> String {
    let rows = table("x,z,label", 12_000, |i| format!("{}.5,{},{}", i % 7, i % 5, i % 2));
    format!("{rows}oops,1,1\n2.5,1,0\n")
}

/// The schema of the table, with the column as a category.
fn write_wider(dir: &Dir) {
    let schema = dir.run("schema d.csv").ok();
    let wider = schema.replacen("\"number\"", "\"category\"", 1);
    assert!(
        wider.contains("\"category\",\"name\":\"x\"")
            || wider.contains("\"x\",\"kind\":\"category\"")
    );
    dir.write("wider.json", wider);
}

#[test]
fn a_late_surprise_widens_a_file_and_is_a_bad_row_of_a_stream() {
    let dir = Dir::new();
    dir.write("d.csv", surprising());
    write_wider(&dir);
    for flags in ["-a ftrl --l1 0", "", "--passes 2 -a sgd"] {
        let ran = dir.run(&format!("train d.csv {flags} -o m.psm"));
        assert!(
            ran.stderr.contains(
                "d.csv:12002, column \"x\": \"oops\" does not fit the first rows; starting again with x as a category"
            ),
            "{}",
            ran.stderr
        );
        ran.ok();
        // Nothing is left of the first start.
        dir.run(&format!("train d.csv {flags} --schema wider.json --quiet -o n.psm")).ok();
        assert!(dir.read("m.psm") == dir.read("n.psm"), "{flags}");
    }
    let error =
        dir.run_with("train - --format csv -a ftrl --quiet", surprising().as_bytes()).fails(1);
    for words in ["stdin:12002:1", "\"x\"", "\"oops\"", "--categories x"] {
        assert!(error.contains(words), "{error}");
    }
    let words = "train - --format csv -a ftrl --skip-bad 1 --json - --quiet";
    let report = dir.run_with(words, surprising().as_bytes()).json();
    assert_eq!((&report["skipped_rows"], &report["rows"]), (&1.into(), &12_001.into()));
}

#[test]
fn compare_and_tune_start_again_as_well() {
    let dir = Dir::new();
    dir.write("d.csv", surprising());
    write_wider(&dir);
    dir.run("tune d.csv --sweep rate=0.1,0.5 --quiet -o m.psm").ok();
    dir.run("tune d.csv --sweep rate=0.1,0.5 --quiet --schema wider.json -o n.psm").ok();
    assert!(dir.read("m.psm") == dir.read("n.psm"));
    let scores = |flags: &str| {
        let report =
            dir.run(&format!("compare d.csv -m ftrl -m sgd --quiet --json - {flags}")).json();
        let runs = report["methods"].as_array().unwrap().clone();
        assert_eq!(runs.len(), 2);
        runs.iter().map(|run| run["progressive_loss"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(scores(""), scores("--schema wider.json"));
    let stream = dir.run_with("tune - --format csv --sweep rate=0.1,0.5", surprising().as_bytes());
    assert!(stream.fails(1).contains("stdin:12002:1"));
}
