//! Outputs of `train` beside the model: predictions, metrics, counts; a failing standard error never ends a run.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::process::Stdio;

use crate::fixture::{Dir, stream};

fn text(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).unwrap()
}

#[test]
fn predictions_are_those_before_learning() {
    let dir = Dir::new();
    dir.write("d.svm", stream(300));
    for method in ["auto", "ftrl --l1 0.1"] {
        let words = format!("train d.svm -a {method} --quiet --json r.json");
        dir.run(&format!("{words} --predictions p --threads 1")).ok();
        let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        let labels = stream(300);
        let loss = |(line, p): (&str, &str)| {
            let p: f64 = p.parse().unwrap();
            if line.starts_with("-1") { -(1.0 - p).ln() } else { -p.ln() }
        };
        let predictions = text(&dir, "p");
        assert_eq!(predictions.lines().count(), 300);
        let mean = labels.lines().zip(predictions.lines()).map(loss).sum::<f64>() / 300.0;
        let expected = report["progressive_loss"].as_f64().unwrap();
        assert!((mean - expected).abs() < 1e-9, "{method}: {mean} {expected}");
        dir.run(&format!("{words} --predictions q --threads 4 --passes 2")).ok();
        assert_eq!(predictions, text(&dir, "q"), "{method}");
    }
}

#[test]
fn predictions_stand_at_the_lines_of_their_rows() {
    let dir = Dir::new();
    dir.write("bad.svm", "1 1:1\n-1 2:nan\n1 1:1\n1 4:1 4:1\n-1 2:1\nx x\n");
    let words = "train bad.svm --classes -1,1 --skip-bad 3 -a ftrl --quiet --predictions -";
    let lines: Vec<bool> = dir.run(words).ok().lines().map(str::is_empty).collect();
    assert_eq!(lines, [false, true, false, true, false, true]);
    dir.write("d.svm", stream(200));
    let plain = dir.run("train d.svm -a ftrl --quiet --predictions -").ok();
    let skipped = dir.run("train d.svm -a ftrl --quiet --predictions - --skip 150").ok();
    let lines: Vec<&str> = skipped.lines().collect();
    assert_eq!((lines.len(), lines[149], lines[150]), (200, "", "0.5"));
    // Rows that are shuffled or held out keep their lines. The first of a window is learned by no row before it.
    let mixed =
        dir.run("train d.svm -a ftrl --quiet --predictions - --shuffle 50 --holdout 0.1").ok();
    assert_eq!((mixed.lines().count(), mixed.lines().filter(|l| l.is_empty()).count()), (200, 0));
    assert_ne!(plain, mixed);
    let sampled =
        dir.run("train d.svm -a ftrl --quiet --predictions - --sample-negatives 0.3").ok();
    let data = stream(200);
    let empty = data.lines().zip(sampled.lines()).filter(|(_, p)| p.is_empty());
    assert!(empty.clone().count() > 10);
    assert!(empty.into_iter().all(|(row, _)| row.starts_with("-1")));
    dir.write("c.svm", "a 1:1\nb 2:1\nc 3:1\n".repeat(30));
    let classes = dir.run("train c.svm --quiet --predictions -").ok();
    assert!(classes.lines().skip(60).zip(["a", "b", "c"].iter().cycle()).all(|(p, c)| p == *c));
}

#[test]
fn a_test_prints_what_evaluate_prints() {
    let dir = Dir::new();
    let (a, t) = ("30,x,no\n40,y,yes\n35,x,no\n50,y,yes\n", "no,x,31\nyes,y,44\nyes,x,50\n");
    dir.write("a.csv", format!("age,city,bought\n{}", a.repeat(20)));
    dir.write("t.csv", format!("bought,city,age\n{}", t.repeat(9)));
    let words = "train a.csv --label-column bought --numbers age -o m.psm --quiet --test t.csv";
    let printed = dir.run(words).ok();
    assert_eq!(printed, dir.run("evaluate m.psm t.csv").ok());
    assert!(printed.contains("AUC") && printed.contains("constant"), "{printed}");
    let report = dir.run(&format!("{words} --json -")).json();
    let mut judged = dir.run("evaluate m.psm t.csv --json -").json();
    assert_eq!(report["test_beside_constant"], judged["beside_constant"].take());
    judged.as_object_mut().unwrap().remove("beside_constant");
    assert_eq!(report["test"], judged);
}

#[test]
fn negatives_are_sampled_by_their_content() {
    let dir = Dir::new();
    dir.write("d.svm", stream(1000));
    let weights = |words: &str| {
        dir.run(&format!("train {words} --quiet --sample-negatives 0.25 -o m.psm")).ok();
        dir.run("inspect m.psm --weights json").ok()
    };
    let one = weights("d.svm --threads 1");
    assert_eq!(one, weights("d.svm --threads 4"));
    let ran = dir.run("train d.svm --sample-negatives 0.25");
    assert!(ran.stderr.contains(" negative rows, each with importance 4.00000"), "{}", ran.stderr);
    assert_eq!(
        dir.run("train d.svm --sample-negatives 1 --predictions - --quiet").ok(),
        dir.run("train d.svm --predictions - --quiet").ok()
    );
    for command in ["compare d.svm -m ftrl", "tune d.svm"] {
        let ran = dir.run(&format!("{command} --sample-negatives 0.25"));
        assert!(ran.stdout.contains("--sample-negatives 0.25 -o model.psm"), "{}", ran.stdout);
        assert!(ran.stderr.contains(" negative rows"), "{}", ran.stderr);
    }
    for share in ["0", "1.1", "nan"] {
        dir.run(&format!("train d.svm --sample-negatives {share}")).fails(2);
    }
    let error = dir.run("train d.svm --loss squared --classes= --sample-negatives 0.5").code;
    assert_eq!(error, 2);
    dir.write("c.svm", "a 1:1\nb 2:1\nc 3:1\n".repeat(30));
    let error = dir.run("train c.svm --quiet --sample-negatives 0.5").fails(2);
    assert!(error.contains("needs two classes; the labels are several classes"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_broken_standard_error_ends_nothing() {
    let dir = Dir::new();
    dir.write("d.svm", stream(500));
    for words in [
        "train d.svm -o m.psm --progress 10",
        "compare d.svm -m ftrl",
        "tune d.svm -o t.psm",
        "inspect m.psm",
        "predict m.psm d.svm",
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = dir.command(words).stderr(full).stdout(Stdio::null()).status().unwrap();
        assert_eq!(done.code(), Some(0), "{words}");
        let mut child =
            dir.command(words).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        drop((child.stderr.take(), child.stdout.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{words}");
    }
    assert!(dir.has("m.psm") && dir.has("t.psm"));
}
