//! `train --from`: learning that begins with a model.

use crate::fixture::{Dir, stream};

/// A table with a number, a category and a label that depend on each other.
fn table(rows: u32, seed: u32, label: impl Fn(f64) -> String) -> String {
    let mut text = String::from("age,city,y\n");
    for i in 0..rows {
        let n = i.wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(40_503)) >> 8;
        let (age, city) = (20 + n % 50, ["rome", "oslo", "lima"][(n / 50 % 3) as usize]);
        let noise = f64::from(n / 150 % 100) / 100.0 - 0.5;
        let score = f64::from(age) / 25.0 - 1.8 + if city == "rome" { 0.7 } else { -0.3 } + noise;
        text.push_str(&format!("{age}.5,{city},{}\n", label(score)));
    }
    text
}

fn two(score: f64) -> String {
    if score > 0.0 { "yes".into() } else { "no".into() }
}

fn number(score: f64) -> String {
    format!("{:.3}", 100.0 + 10.0 * score)
}

fn three(score: f64) -> String {
    ["low", "middle", "high"][usize::from(score > -0.4) + usize::from(score > 0.4)].into()
}

#[test]
fn the_first_prediction_is_the_models() {
    type Label = fn(f64) -> String;
    let tasks = [("two", two as Label), ("number", number), ("three", three)];
    for (task, label) in tasks {
        let dir = Dir::new();
        dir.write("a.csv", table(2000, 1, label)).write("b.csv", table(2000, 2, label));
        dir.run("train a.csv -o a.psm --quiet").ok();
        let ran = dir.run("train b.csv --from a.psm -o b.psm --predictions p.csv");
        assert!(ran.stderr.contains("from a.psm: "), "{}", ran.stderr);
        assert!(ran.stderr.contains("approximate"), "{}", ran.stderr);
        ran.ok();
        let first =
            |text: Vec<u8>| String::from_utf8(text).unwrap().lines().nth(1).unwrap().to_owned();
        dir.run("predict a.psm b.csv --limit 1 -o q.csv").ok();
        // The table of predict has the label in front.
        let (made, expected) = (first(dir.read("p.csv")), first(dir.read("q.csv")));
        assert_eq!(Some(made.as_str()), expected.split_once(',').map(|(_, rest)| rest), "{task}");
        // It goes on to learn: the loss is below that of a run which begins with nothing.
        let loss = |words: &str| {
            let report =
                dir.run(&format!("train b.csv {words} --passes 1 --quiet --json -")).json();
            report["progressive_loss"].as_f64().unwrap()
        };
        let (from, fresh) = (loss("--from a.psm"), loss(""));
        // For classes it is the share of errors, whose noise is larger.
        let slack = if task == "three" { 1.05 } else { 1.0 };
        assert!(from < slack * fresh, "{task}: {from} {fresh}");
        let shown = dir.run("inspect b.psm").ok();
        assert!(shown.contains("city=rome") && shown.contains("age"), "{task}: {shown}");
        // Any number of threads, saved and resumed: the same model.
        dir.run("train b.csv --from a.psm -o c.psm --threads 1 --quiet").ok();
        dir.run("train b.csv --from a.psm --limit 700 --checkpoint k --quiet").ok();
        dir.run("train b.csv --resume k -o d.psm --quiet").ok();
        assert_eq!(dir.read("b.psm"), dir.read("c.psm"), "{task}");
        let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).ok();
        assert_eq!(weights("b.psm"), weights("d.psm"), "{task}");
    }
}

#[test]
fn what_no_row_moves_stays() {
    let dir = Dir::new();
    dir.write("a.svm", stream(600)).write("b.svm", "1 1:1\n-1 1:1\n1 1:1\n");
    dir.run("train a.svm -a ftrl -o a.psm --quiet").ok();
    // Without -a the method of the model goes on: it was trained without --normalize.
    let ran = dir.run("train b.svm --from a.psm -o b.psm");
    assert!(ran.stderr.contains("ftrl: "), "{}", ran.stderr);
    ran.ok();
    let weights = |model: &str| {
        let text = dir.run(&format!("inspect {model} --weights tsv")).ok();
        text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, after) = (weights("a.psm"), weights("b.psm"));
    assert_eq!(before.len(), after.len());
    let moved: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    assert!(moved.iter().all(|line| line.starts_with("1\t") || line.starts_with("(bias)")));
    dir.run("train b.svm --from a.psm -a sgd -o c.psm --quiet").ok();
    assert_eq!(weights("c.psm").len(), before.len());
}

#[test]
fn what_contradicts_the_model_is_refused() {
    let dir = Dir::new();
    dir.write("a.csv", table(500, 1, two)).write("b.csv", table(500, 2, two));
    dir.run("train a.csv -o a.psm --checkpoint k --quiet").ok();
    for (flags, stored) in [
        ("--loss squared", "--loss logistic"),
        ("--multiclass", "no --multiclass"),
        ("--classes no,maybe", "--classes no,yes"),
        ("--bits 12", "--bits 22"),
        ("--no-bias", "a bias"),
        ("--precision f64", "--precision f32"),
        ("--numbers city", "city as category"),
        ("--label-column age", "label column y"),
    ] {
        let error = dir.run(&format!("train b.csv --from a.psm {flags}")).fails(2);
        let expected = format!("contradicts the model a.psm, which was trained with {stored}; ");
        assert!(error.contains(&expected), "{flags}: {error}");
    }
    let same = "--loss logistic --classes no,yes --bits 22 --numbers age --categories 'c*' -a sgd";
    dir.run(&format!("train b.csv --from a.psm --quiet {}", same.replace('\'', ""))).ok();
    for (words, expected) in [
        ("--from k", "k: is a checkpoint, not a model; --resume k continues a checkpoint"),
        ("--from a.csv", "is not a parsimon model or checkpoint"),
        ("--from nowhere", "nowhere: cannot be read"),
        ("--from a.psm -a rls", "--loss logistic, which this method does not have"),
        ("--from a.psm -a ftl", "ftl cannot begin with a model: its weights are bounded"),
        ("--from a.psm -a ftrl --penalty nonnegative", "these can: auto, sgd, "),
        ("--from a.psm -o a.psm", "--output is the same file as --from"),
        ("--resume a.psm", "a.psm: is a model, not a checkpoint; --from a.psm begins with a model"),
    ] {
        let ran = dir.run(&format!("train b.csv {words}"));
        assert_ne!(ran.code, 0, "{words}");
        assert!(ran.stderr.contains(expected), "{words}: {}", ran.stderr);
    }
    let error = dir.run("train b.csv --from a.psm --resume k").fails(2);
    assert!(error.contains("cannot be used with"), "{error}");
}
