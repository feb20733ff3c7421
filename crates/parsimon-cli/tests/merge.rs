//! `parsimon merge`: several checkpoints of one start become one.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::{Dir, stream};

/// Three files of rows, and checkpoints of a start and of two that went on from it.
fn prepared(flags: &str) -> Dir {
    let dir = Dir::new();
    let text = stream(600);
    let lines: Vec<&str> = text.lines().collect();
    for (name, part) in
        [("a.svm", &lines[..200]), ("b.svm", &lines[200..400]), ("c.svm", &lines[400..])]
    {
        dir.write(name, part.join("\n") + "\n");
    }
    dir.run(&format!("train a.svm --checkpoint base.ckpt --quiet --classes -1,1 {flags}")).ok();
    dir.run("train b.svm --resume base.ckpt --checkpoint b.ckpt --quiet").ok();
    dir.run("train c.svm --resume base.ckpt --checkpoint c.ckpt --quiet").ok();
    dir
}

#[test]
fn two_states_become_one_that_predicts_and_goes_on() {
    let dir = prepared("-a ftrl --l1 0.5");
    let told = dir.run("merge b.ckpt c.ckpt --from base.ckpt --out m.ckpt -o m.psm").ok();
    for line in ["checkpoints", "rows merged", "400", "rows in total", "600", "nonzeros"] {
        assert!(told.contains(line), "{told}");
    }
    let first = dir.read("m.ckpt");
    dir.run("merge b.ckpt c.ckpt --from base.ckpt --out m.ckpt").ok();
    assert_eq!(dir.read("m.ckpt"), first, "the same order, the same bytes");
    let predictions = dir.run("predict m.psm a.svm").ok();
    assert_eq!(predictions.lines().count(), 200);
    dir.run("train a.svm --resume m.ckpt -o again.psm --quiet").ok();
    let header = dir.run("inspect again.psm --json").json();
    assert_eq!(header["provenance"]["rows"], 800);
}

#[test]
fn a_part_counts_once() {
    let dir = prepared("-a ftrl --l1 0.5");
    dir.write("copy.ckpt", dir.read("b.ckpt"));
    for (parts, expected) in [
        ("b.ckpt c.ckpt b.ckpt", "b.ckpt is named twice"),
        ("b.ckpt c.ckpt ./b.ckpt", "is named twice"),
        ("b.ckpt c.ckpt copy.ckpt", "copy.ckpt has learned the same as b.ckpt"),
    ] {
        let error = dir.run(&format!("merge {parts} --from base.ckpt --out m.ckpt")).fails(2);
        assert!(error.contains(expected), "{parts}: {error}");
        assert!(!dir.has("m.ckpt"));
    }
}

#[test]
fn one_state_alone_is_itself() {
    let dir = prepared("-a rda --l1 0.01 --precision f64");
    dir.run("merge b.ckpt --from base.ckpt --out m.ckpt -o m.psm").ok();
    dir.run("train b.svm --resume base.ckpt -o b.psm --quiet").ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).json();
    let (merged, own) = (weights("m.psm"), weights("b.psm"));
    let own = own["weights"].as_object().unwrap();
    assert_eq!(merged["weights"].as_object().unwrap().len(), own.len());
    for (name, w) in own {
        let (w, m) = (w.as_f64().unwrap(), merged["weights"][name].as_f64().unwrap());
        assert!((w - m).abs() < 1e-12, "{name}: {w} {m}");
    }
}

#[test]
fn normalized_states_are_merged_and_races_are_not() {
    for method in ["-a ftrl --l1 0.1", "-a adagrad-fobos"] {
        let dir = prepared(&format!("{method} --normalize --precision f64"));
        dir.run("merge b.ckpt c.ckpt --from base.ckpt --out m.ckpt -o m.psm").ok();
        assert_eq!(dir.run("predict m.psm a.svm").ok().lines().count(), 200);
        dir.run("merge b.ckpt --from base.ckpt --out one.ckpt -o one.psm").ok();
        dir.run("train b.svm --resume base.ckpt -o b.psm --quiet").ok();
        let numbers = |model: &str| -> Vec<f64> {
            let told = dir.run(&format!("predict {model} c.svm")).ok();
            told.lines().map(|line| line.parse().unwrap()).collect()
        };
        for (x, y) in numbers("one.psm").into_iter().zip(numbers("b.psm")) {
            assert!((x - y).abs() < 1e-6, "{x} {y}");
        }
    }
    let dir = prepared("-a auto");
    let error = dir.run("merge b.ckpt c.ckpt --from base.ckpt --out m.ckpt").fails(2);
    let words = "auto with these settings cannot be merged: it keeps several settings side by side";
    assert!(error.contains(words), "{error}");
}

#[test]
fn states_from_nothing_need_no_base() {
    let dir = prepared("-a ftrl");
    dir.run("train b.svm -a ftrl --checkpoint x.ckpt --quiet --classes -1,1").ok();
    dir.run("train c.svm -a ftrl --checkpoint y.ckpt --quiet --classes -1,1").ok();
    let told = dir.run("merge x.ckpt y.ckpt --out m.ckpt --combine mean").ok();
    assert!(told.contains("400"), "{told}");
}

#[test]
fn what_cannot_be_merged_is_told_with_what_to_do() {
    let dir = prepared("-a ftrl");
    let error = dir.run("merge base.ckpt --from b.ckpt --out m.ckpt").fails(1);
    assert_eq!(
        error,
        "error: base.ckpt: a state of 200 rows cannot have come from one of 400 rows; continue from b.ckpt with train --resume"
    );
    assert!(!dir.has("m.ckpt"));
    dir.run("train b.svm -a rda --checkpoint other.ckpt --quiet --classes -1,1").ok();
    let error = dir.run("merge other.ckpt --from base.ckpt --out m.ckpt").fails(1);
    assert!(error.contains("other.ckpt: ") && error.contains("different settings"), "{error}");
    let error = dir.run("merge nowhere.ckpt --from base.ckpt --out m.ckpt").fails(1);
    assert!(error.contains("nowhere.ckpt: cannot be read"), "{error}");
    dir.run("train b.svm -a lazy-fobos --checkpoint lazy.ckpt --quiet --classes -1,1").ok();
    let error = dir.run("merge lazy.ckpt --out m.ckpt").fails(2);
    assert!(error.contains("lazy-fobos with these settings cannot be merged"), "{error}");
    dir.run("train b.svm -o model.psm --quiet").ok();
    let error = dir.run("merge model.psm --out m.ckpt").fails(1);
    assert!(error.contains("is a model, not a checkpoint"), "{error}");
}

#[test]
fn no_input_is_overwritten_and_none_counts_twice() {
    let dir = prepared("-a ftrl");
    let before = dir.read("b.ckpt");
    for out in
        ["--out b.ckpt", "--out base.ckpt", "--out m.ckpt -o c.ckpt", "--out m.ckpt -o m.ckpt"]
    {
        let error = dir.run(&format!("merge b.ckpt c.ckpt --from base.ckpt {out}")).fails(2);
        assert!(error.contains("would be overwritten"), "{error}");
    }
    let error = dir.run("merge b.ckpt ./b.ckpt --from base.ckpt --out m.ckpt").fails(2);
    assert!(error.contains("./b.ckpt is named twice"), "{error}");
    assert!(dir.read("b.ckpt") == before && !dir.has("m.ckpt"));
}
