//! `train --resume`: where the data continues, and what contradicts the checkpoint.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use crate::fixture::{Dir, stream};

fn first(text: &str, rows: usize) -> &str {
    let end = text.match_indices('\n').nth(rows - 1).unwrap().0 + 1;
    &text[..end]
}

fn weights(dir: &Dir, model: &str) -> String {
    dir.run(&format!("inspect {model} --weights json")).ok()
}

#[test]
fn a_file_that_grew_continues_after_its_rows() {
    let (dir, text) = (Dir::new(), stream(600));
    dir.write("all.svm", &text).write("log.svm", first(&text, 250));
    dir.run("train all.svm -a ftrl -o whole.psm --quiet").ok();
    dir.run("train log.svm -a ftrl --checkpoint c --quiet").ok();
    dir.write("log.svm", first(&text, 400));
    let ran = dir.run("train log.svm --resume c --checkpoint c --limit 100 --threads 3");
    assert!(ran.stderr.contains("continuing after 250 rows: log.svm after its first 250"));
    ran.ok();
    // The limit ended in the middle of a chunk.
    dir.write("log.svm", &text);
    dir.run("train log.svm --resume c -o parts.psm --quiet").ok();
    assert_eq!(weights(&dir, "whole.psm"), weights(&dir, "parts.psm"));
    let error = dir.run("train log.svm --resume c --checkpoint d --quiet").ok();
    assert_eq!(error, "");
    // Without new rows the model is that of the checkpoint.
    let ran = dir.run("train log.svm --resume d -o again.psm");
    assert!(ran.stderr.contains("no rows after those that the checkpoint has learned"));
    ran.ok();
    assert_eq!(weights(&dir, "whole.psm"), weights(&dir, "again.psm"));
    dir.run("train log.svm --resume d --skip 0 --quiet").ok();
}

#[test]
fn each_of_several_files_has_its_place() {
    let (dir, text) = (Dir::new(), stream(600));
    let (a, rest) = text.split_at(first(&text, 200).len());
    let (b, c) = rest.split_at(first(rest, 200).len());
    dir.write("a.svm", a).write("b.svm", b).write("c.svm", c);
    dir.run("train a.svm b.svm c.svm -a ftrl -o whole.psm --quiet").ok();
    dir.run("train a.svm b.svm -a ftrl --limit 300 --checkpoint c --quiet").ok();
    for inputs in ["a.svm b.svm c.svm", "b.svm c.svm"] {
        dir.run(&format!("train {inputs} --resume c -o parts.psm --quiet")).ok();
        assert_eq!(weights(&dir, "whole.psm"), weights(&dir, "parts.psm"), "{inputs}");
    }
    let rest = &text[first(&text, 300).len()..];
    dir.run_with("train - --resume c -o parts.psm --quiet", rest.as_bytes()).ok();
    assert_eq!(weights(&dir, "whole.psm"), weights(&dir, "parts.psm"));
}

#[test]
fn a_file_that_changed_is_refused() {
    let (dir, text) = (Dir::new(), stream(300));
    dir.write("d.svm", first(&text, 200));
    dir.run("train d.svm -a ftrl --checkpoint c --quiet").ok();
    dir.write("d.svm", first(&text, 100));
    let error = dir.run("train d.svm --resume c").fails(2);
    assert!(error.contains("d.svm shrank from") && error.contains("--skip 0"), "{error}");
    dir.write("d.svm", text.replacen("1:1", "3:1", 1));
    let error = dir.run("train d.svm --resume c").fails(2);
    assert!(
        error.contains("d.svm changed since the checkpoint learned 200 of its rows"),
        "{error}"
    );
    dir.run("train d.svm --resume c --skip 200 --quiet").ok();
}

#[test]
fn content_is_recognized_whatever_its_name() {
    let (dir, text) = (Dir::new(), stream(600));
    dir.write("day1.svm", first(&text, 300));
    dir.run("train day1.svm -a ftrl --checkpoint c -o one.psm --quiet").ok();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(first(&text, 300).as_bytes()).unwrap();
    dir.write("day1.svm.gz", packed.finish().unwrap()).write("moved.svm", first(&text, 300));
    std::fs::remove_file(dir.path("day1.svm")).unwrap();
    for name in ["day1.svm.gz", "moved.svm"] {
        let ran = dir.run(&format!("train {name} --resume c -o two.psm"));
        let known = format!("{name} has the content of ");
        assert!(
            ran.stderr.contains(&known) && ran.stderr.contains("--allow-repeat"),
            "{}",
            ran.stderr
        );
        ran.ok();
        assert_eq!(weights(&dir, "one.psm"), weights(&dir, "two.psm"), "{name}");
        let ran = dir.run(&format!("train {name} --resume c --allow-repeat -o three.psm"));
        assert!(ran.stderr.contains("300 rows, "), "{}", ran.stderr);
        ran.ok();
        assert_ne!(weights(&dir, "one.psm"), weights(&dir, "three.psm"), "{name}");
    }
    // A compressed day is known when it comes unpacked, and goes on where it grew.
    dir.run("train day1.svm.gz -a ftrl --checkpoint p --quiet").ok();
    dir.write("grown.svm", first(&text, 400));
    let ran = dir.run("train grown.svm --resume p --quiet --json r.json");
    ran.ok();
    let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(report["rows"], 400);
    // Another day is another day.
    dir.write("day2.svm", &text[first(&text, 300).len()..]);
    let ran = dir.run("train day2.svm --resume c --json r.json --quiet");
    ran.ok();
    let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(report["rows"], 600);
}

#[test]
fn a_checkpoint_that_another_job_has_written_is_kept() {
    let (dir, text) = (Dir::new(), stream(400));
    let rest = &text[first(&text, 100).len()..];
    let (second, third) = rest.split_at(first(rest, 100).len());
    dir.write("1.svm", first(&text, 100)).write("2.svm", second).write("3.svm", third);
    dir.run("train 1.svm -a ftrl --checkpoint c --quiet").ok();
    // The first job waits for its rows while the second begins and ends.
    let mut slow = dir
        .command("train - --format svmlight --resume c --checkpoint c -o m.psm")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut rows = slow.stdin.take().unwrap();
    rows.write_all(second.as_bytes()).unwrap();
    let mut words = BufReader::new(slow.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("continuing after") {
        line.clear();
        assert!(words.read_line(&mut line).unwrap() > 0);
    }
    dir.run("train 3.svm --resume c --checkpoint c --quiet").ok();
    let before = dir.read("c");
    drop(rows);
    let mut error = String::new();
    words.read_to_string(&mut error).unwrap();
    assert_eq!(slow.wait().unwrap().code(), Some(1), "{error}");
    assert!(error.contains("c: changed since it was read: another job has written it"), "{error}");
    assert!(dir.read("c") == before && !dir.has("m.psm"));
}

#[test]
fn the_first_day_has_no_checkpoint() {
    let (dir, text) = (Dir::new(), stream(200));
    dir.write("1.svm", first(&text, 100)).write("2.svm", &text[first(&text, 100).len()..]);
    let error = dir.run("train 1.svm --resume c --checkpoint c").fails(1);
    assert!(error.contains("--resume-if-present c begins without it"), "{error}");
    for day in ["1.svm", "2.svm"] {
        dir.run(&format!("train {day} --resume-if-present c --checkpoint c -o m.psm --quiet")).ok();
    }
    let state: serde_json::Value = dir.run("inspect c --json").json();
    assert_eq!(state["checkpoint"]["rows"], 200);
    assert_eq!(state["checkpoint"]["files"].as_array().unwrap().len(), 2);
    let words = dir.run("inspect c").ok();
    assert!(words.contains("200 rows, ") && words.contains("learned 100 rows of "), "{words}");
}

#[test]
fn a_failed_publication_is_repeated_by_the_same_command() {
    let (dir, text) = (Dir::new(), stream(200));
    dir.write("1.svm", first(&text, 100)).write("2.svm", &text[first(&text, 100).len()..]);
    dir.run("train 1.svm -a ftrl --checkpoint c --quiet").ok();
    let before = dir.read("c");
    let command = "train 2.svm --resume c --checkpoint c -o there/m.psm --quiet";
    dir.run(command).fails(1);
    assert!(dir.read("c") == before, "the checkpoint comes last");
    std::fs::create_dir(dir.path("there")).unwrap();
    dir.run(command).ok();
    let state: serde_json::Value = dir.run("inspect c --json").json();
    assert_eq!(state["checkpoint"]["rows"], 200);
    // And once more, without new rows.
    dir.run(command).ok();
    let state: serde_json::Value = dir.run("inspect c --json").json();
    assert_eq!(state["checkpoint"]["rows"], 200);
}

#[test]
fn flags_that_contradict_the_checkpoint_are_refused() {
    let dir = Dir::new();
    dir.write("a.svm", stream(100)).write("b.svm", stream(200));
    let words = "-a ftrl --l1 0.5 --half-life 1000 --class-weight balanced";
    dir.run(&format!("train a.svm {words} --checkpoint c --quiet")).ok();
    for (flags, stored) in [
        ("--l1 2", "--l1 0.5"),
        ("--half-life 10", "--half-life 1000"),
        ("--class-weight=-1=1,1=2", "--class-weight balanced"),
        ("--normalize", "no --normalize"),
        ("--loss squared", "--loss logistic"),
        ("-a sgd", "ftrl"),
        ("--bits 18", "--no-hash"),
        ("--interactions ab", "no interactions"),
        ("--precision f64", "--precision f32"),
        ("--no-bias", "a bias"),
        ("--classes 0,1", "--classes -1,1"),
    ] {
        let error = dir.run(&format!("train b.svm --resume c {flags}")).fails(2);
        let expected = format!("contradicts the checkpoint c, which was trained with {stored}; ");
        assert!(error.contains(&expected), "{flags}: {error}");
        assert!(error.contains(flags.split([' ', '=']).next().unwrap()) || flags == "-a sgd");
    }
    let same = "--loss logistic --classes -1,1 --no-hash --precision f32";
    dir.run(&format!("train b.svm --resume c --quiet {words} {same}")).ok();
}

#[test]
fn columns_keep_their_kinds() {
    let dir = Dir::new();
    let rows = |n: u32| {
        let row =
            |i: u32| format!("{},c{},{}\n", i % 37, i % 3, if i % 5 < 2 { "no" } else { "yes" });
        format!("age,city,bought\n{}", (0..n).map(row).collect::<String>())
    };
    dir.write("a.csv", rows(200)).write("b.csv", rows(300));
    dir.run("train a.csv --label-column bought --bits 12 --checkpoint c --quiet").ok();
    for (flags, stored) in [
        ("--label-column age", "label column bought"),
        ("--numbers city", "city as category"),
        ("--ignore age", "age as number"),
        ("--bits 13", "--bits 12"),
        ("--weight-column age", "no weight column"),
        ("--kinds cell", "kinds of columns"),
    ] {
        let error = dir.run(&format!("train b.csv --resume c {flags}")).fails(2);
        assert!(error.contains(&format!("trained with {stored}; ")), "{flags}: {error}");
    }
    let error = dir.run("train b.csv --resume c --numbers c*").fails(2);
    assert!(error.contains("--numbers c* contradicts"), "{error}");
    assert!(error.contains("trained with city as category; "), "{error}");
    for flags in [
        "--label-column last",
        "--label-column 3",
        "--numbers age --categories city",
        "--numbers a* --categories 2",
        "--keep all",
        "--numbers all --categories c?ty",
        "--classes no,yes",
    ] {
        dir.run(&format!("train b.csv --resume c --quiet {flags}")).ok();
    }
}

#[test]
fn sampling_goes_on_as_it_began() {
    let (dir, text) = (Dir::new(), stream(600));
    dir.write("all.svm", &text).write("log.svm", first(&text, 250));
    dir.run("train all.svm -a ftrl --sample-negatives 0.3 -o whole.psm --quiet").ok();
    dir.run("train log.svm -a ftrl --sample-negatives 0.3 --checkpoint c --quiet").ok();
    dir.write("log.svm", &text);
    let ran = dir.run("train log.svm --resume c -o parts.psm");
    assert!(ran.stderr.contains("negative rows, each with importance 3.33333"), "{}", ran.stderr);
    ran.ok();
    assert_eq!(weights(&dir, "whole.psm"), weights(&dir, "parts.psm"));
    dir.run("train log.svm --resume c --sample-negatives 0.3 --quiet").ok();
    let error = dir.run("train log.svm --resume c --sample-negatives 0.5").fails(2);
    assert!(error.contains("which was trained with --sample-negatives 0.3; "), "{error}");
    dir.run("train log.svm -a ftrl --checkpoint d --quiet").ok();
    let error = dir.run("train all.svm --resume d --sample-negatives 0.5").fails(2);
    assert!(error.contains("which was trained with all negative rows; "), "{error}");
}
