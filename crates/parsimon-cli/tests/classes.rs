//! Two classes for methods that learn numbers, and rows weighted by their class.

use crate::fixture::Dir;

/// Rows whose label follows the first feature; one in four is positive.
fn rows(negative: &str, positive: &str) -> String {
    let row = |i: u32| {
        let is_positive = i.is_multiple_of(4);
        let (label, id) = if is_positive { (positive, 1) } else { (negative, 2) };
        format!("{label} {id}:1 {}:1\n", 3 + i % 5)
    };
    (0..400).map(row).collect()
}

#[test]
fn methods_of_numbers_learn_two_classes() {
    let dir = Dir::new();
    dir.write("text.svm", rows("no", "yes")).write("zero.svm", rows("0", "1"));
    for method in ["lms", "nlms", "rls", "pnlms", "csgd", "multikernel-pda"] {
        for (file, labels) in [("text.svm", ["no", "yes"]), ("zero.svm", ["0", "1"])] {
            let ran = dir.run(&format!("train {file} -a {method} -o m.psm --checkpoint c.psc"));
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let line = format!("two classes, {} and {}, learned as -1 and 1", labels[0], labels[1]);
            assert_eq!(ran.stderr.matches(&line).count(), 1, "{}", ran.stderr);
            let classes = dir.run(&format!("predict m.psm {file} --as class")).ok();
            assert_eq!(classes.lines().next(), Some(labels[1]), "{method}");
            let metrics = dir.run(&format!("evaluate m.psm {file} --json -")).json();
            assert_eq!(metrics["task"], "binary");
            assert!(metrics["accuracy"].as_f64().unwrap() > 0.9, "{method}");
            // A checkpoint reads the same labels.
            dir.run(&format!("train {file} --resume c.psc --skip 0 --quiet -o n.psm")).ok();
        }
    }
}

#[test]
fn numbers_stay_numbers() {
    let dir = Dir::new();
    dir.write("zero.svm", rows("0", "1")).write("three.svm", "1 1:1\n2 2:1\n3 1:1\n1 2:1\n");
    for words in ["zero.svm -a nlms --loss projection", "three.svm -a nlms", "three.svm -a rls"] {
        let ran = dir.run(&format!("train {words} -o m.psm"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(!ran.stderr.contains("two classes"), "{}", ran.stderr);
        let message = dir.run("predict m.psm three.svm --as class").fails(2);
        assert!(message.contains("predicts numbers"), "{message}");
    }
}

#[test]
fn classes_may_be_declared() {
    let dir = Dir::new();
    dir.write("text.svm", rows("no", "yes"));
    dir.run("train text.svm -a lms --loss squared --classes yes,no -o m.psm --quiet").ok();
    let classes = dir.run("predict m.psm text.svm --as class").ok();
    assert_eq!(classes.lines().take(2).collect::<Vec<_>>(), ["yes", "no"]);
}

#[test]
fn methods_of_numbers_and_of_classes_are_compared() {
    let dir = Dir::new();
    dir.write("usual.svm", rows("-1", "1"));
    for methods in ["-m ftrl -m nlms", "-m nlms -m ftrl"] {
        dir.run(&format!("compare usual.svm {methods}")).ok();
    }
}

#[test]
fn rows_are_weighted_by_class() {
    let dir = Dir::new();
    let text = rows("no", "yes");
    dir.write("d.svm", &text);
    let weights = |words: &str| {
        dir.run(&format!("train d.svm -a sgd {words} --quiet -o m.psm --checkpoint c.psc")).ok();
        dir.run("inspect m.psm --weights tsv").ok()
    };
    let (plain, balanced) = (weights(""), weights("--class-weight balanced"));
    assert_ne!(plain, balanced);
    assert!(dir.run("inspect m.psm --json").ok().contains("\"class_weight\": \"balanced\""));
    assert_eq!(weights("--class-weight no=1,yes=1"), plain);
    assert_ne!(weights("--class-weight yes=10"), plain);
    // Half the rows, saved and resumed: the counts go on.
    let (first, second) = text.split_at(text.lines().take(150).map(|l| l.len() + 1).sum());
    dir.write("first.svm", first).write("second.svm", second);
    let words = "--classes no,yes --class-weight balanced --quiet";
    dir.run(&format!("train first.svm -a sgd {words} --checkpoint c.psc")).ok();
    dir.run("train second.svm --resume c.psc --quiet -o m.psm").ok();
    assert_eq!(dir.run("inspect m.psm --weights tsv").ok(), balanced);
    // And from a stream.
    let stream = format!("train - --format svmlight -a sgd {words} -o m.psm");
    dir.run_with(&stream, text.as_bytes()).ok();
    assert_eq!(dir.run("inspect m.psm --weights tsv").ok(), balanced);
}

#[test]
fn class_weights_that_make_no_sense_are_refused() {
    let dir = Dir::new();
    dir.write("d.svm", rows("no", "yes")).write("n.svm", "1.5 1:1\n2.5 1:1\n3.5 2:1\n");
    for (words, part) in [
        ("d.svm -a ftrl --class-weight maybe=2", "which is no class; the classes are no, yes"),
        ("d.svm -a ftrl --class-weight even", "must be \"balanced\" or"),
        ("d.svm -a ftrl --class-weight yes=-1", "must be \"balanced\" or"),
        ("n.svm -a lms --class-weight balanced", "the labels are numbers"),
        ("d.svm -a ftrl --class-weight balanced --regret", "--class-weight"),
    ] {
        let message = dir.run(&format!("train {words}")).fails(2);
        assert!(message.contains(part), "{message}");
    }
}
