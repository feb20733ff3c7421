//! The constant beside the learner: what `train`, `evaluate` and `compare` show and warn of.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use parsimon_testing::Lcg64;
use serde_json::Value;

use crate::fixture::{Dir, stream};

/// Rows made of some random numbers from 0 to 1 each.
fn rows(n: u32, mut row: impl FnMut(u32, &mut dyn FnMut() -> f64) -> String) -> String {
    let mut random = Lcg64::new(11);
    let mut unit = || f64::from(random.bits31() % 100_000) / 100_000.0;
    (0..n).map(|i| row(i, &mut unit)).collect()
}

/// The label follows feature 1; feature 2 is noise in another unit.
fn another_unit(n: u32) -> String {
    rows(n, |i, _| {
        let (noise, x) = (1e6 * f64::from(i * 7919 % 101), i * 31 % 7);
        let y = if x > 3 || i.is_multiple_of(11) { 1 } else { -1 };
        format!("{y} 1:{x} 2:{noise}\n")
    })
}

/// Two classes that nothing predicts.
fn noise(n: u32) -> String {
    rows(n, |_, unit| {
        let y = if unit() < 0.3 { 1 } else { -1 };
        format!("{y} 1:{:.4} 2:{:.4} 3:{:.4} 4:{:.4}\n", unit(), unit(), unit(), unit())
    })
}

fn report(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.read(name)).unwrap()
}

#[test]
fn the_table_and_the_closing_lines_show_the_constant() {
    let dir = Dir::new();
    dir.write("d.svm", stream(3000));
    let words = dir.run("train d.svm --json r.json").stderr;
    let header = words.lines().find(|line| line.contains("since last")).unwrap();
    assert_eq!(header.split_whitespace().take(2).collect::<Vec<_>>(), ["average", "constant"]);
    let r = report(&dir, "r.json");
    let (own, constant) = (&r["progressive_loss"], r["constant_loss"].as_f64().unwrap());
    assert!(own.as_f64().unwrap() < constant && (0.6..0.7).contains(&constant), "{constant}");
    assert!(words.contains(&format!("(a constant prediction {constant:.6})")), "{words}");
    assert!(!words.contains("warning"), "{words}");
}

/// Every kind of label has a constant, which knows the labels so far and nothing else.
#[test]
fn every_loss_has_a_constant() {
    let dir = Dir::new();
    dir.write("n.svm", rows(2000, |_, unit| format!("{} 1:1\n", (10.0 * unit()).floor())));
    // Of the numbers 0 to 9: half the variance, the distance from the median, ...
    for (loss, low, high) in [
        ("squared", 4.0, 4.4),
        ("quantile", 1.2, 1.35),
        ("huber", 1.9, 2.2),
        ("poisson", -2.6, -2.1),
    ] {
        dir.run(&format!("train n.svm -a sgd --rate 0.01 --loss {loss} --json r.json --quiet"))
            .ok();
        let constant = report(&dir, "r.json")["constant_loss"].as_f64().unwrap();
        assert!(low < constant && constant < high, "{loss}: {constant}");
    }
    dir.run("train n.svm -a ftrl --multiclass --json r.json --quiet").ok();
    let errors = report(&dir, "r.json")["constant_loss"].as_f64().unwrap();
    assert!(0.85 < errors && errors < 0.95, "{errors}");
    dir.write("c.svm", noise(2000));
    for loss in ["hinge", "squared-hinge", "logistic"] {
        dir.run(&format!("train c.svm -a sgd --loss {loss} --json r.json --quiet")).ok();
        let constant = report(&dir, "r.json")["constant_loss"].as_f64().unwrap();
        assert!(0.38 < constant && constant < 0.68, "{loss}: {constant}");
    }
}

#[test]
fn the_constant_survives_a_checkpoint() {
    let dir = Dir::new();
    let text = stream(1500);
    let cut = text.match_indices('\n').nth(699).unwrap().0 + 1;
    dir.write("all.svm", &text).write("a.svm", &text[..cut]).write("b.svm", &text[cut..]);
    dir.run("train all.svm -a ftrl -o whole.psm --json whole.json --quiet").ok();
    dir.run("train a.svm -a ftrl --checkpoint c.ckpt --quiet").ok();
    dir.run("train b.svm --resume c.ckpt -o parts.psm --json parts.json --quiet").ok();
    let constant = |name: &str| report(&dir, name)["constant_loss"].clone();
    assert!(constant("whole.json").is_f64());
    assert_eq!(constant("whole.json"), constant("parts.json"));
}

#[test]
fn a_feature_in_another_unit_is_named_with_the_way_out() {
    let dir = Dir::new();
    dir.write("d.svm", another_unit(3000));
    let words = dir.run("train d.svm -a ftrl --rate 0.15 --beta 0.1 --l1 1").stderr;
    let lines: Vec<&str> = words.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("warning:")).unwrap();
    assert!(lines[at].starts_with("warning: after 1,000 rows the loss is "), "{words}");
    assert!(lines[at].contains("; a constant prediction has 0.6"), "{words}");
    assert!(lines[at + 1].contains("the values of \"2\" are "), "{words}");
    assert!(lines[at + 2].contains("try: --normalize, or "), "{words}");
    assert_eq!(words.matches("warning").count(), 1, "once: {words}");
    // At once, not at the end.
    assert!(at + 3 < lines.iter().position(|line| line.contains("progressive loss")).unwrap());
    for better in ["-a auto", "-a ftrl --normalize --rate 0.5 --beta 0"] {
        let words = dir.run(&format!("train d.svm {better}")).stderr;
        assert!(!words.contains("warning"), "{better}: {words}");
    }
    // A table's columns have names.
    let table = rows(3000, |i, unit| {
        let income = 1e9 * unit();
        format!("{},{:.3},{income:.0}\n", if i % 3 == 0 { "yes" } else { "no" }, unit())
    });
    dir.write("t.csv", format!("bought,age,income\n{table}"));
    let words = dir.run("train t.csv --label-column bought -a ftrl").stderr;
    assert!(words.contains("the values of \"income\" are "), "{words}");
}

#[test]
fn a_rate_that_is_too_large_is_named() {
    let dir = Dir::new();
    dir.write("d.svm", noise(4000));
    let words = dir.run("train d.svm -a sgd --rate 30").stderr;
    assert!(words.contains("likely reason: the rate 30 is too large"), "{words}");
    assert!(words.contains("--rate 3,"), "{words}");
}

#[test]
fn labels_in_a_large_unit_are_named() {
    let dir = Dir::new();
    let text = rows(3000, |_, unit| {
        let x = unit();
        format!("{:.0} 1:{x:.4}\n", 1e5 * (2.0 + x + 0.1 * unit()))
    });
    dir.write("d.svm", text);
    let words = dir.run("train d.svm -a ftrl --loss squared").stderr;
    assert!(words.contains("the labels are as large as 2"), "{words}");
    let words =
        dir.run("train d.svm -a ftrl --loss squared --normalize --rate 0.5 --beta 0").stderr;
    assert!(!words.contains("warning: after"), "{words}");
}

#[test]
fn labels_that_nothing_predicts_are_named() {
    let dir = Dir::new();
    // Many features of noise: each costs a little.
    let text = rows(4000, |_, unit| {
        let y = if unit() < 0.3 { 1 } else { -1 };
        let features = (1..=30).map(|j| format!(" {j}:{:.3}", unit() - 0.5)).collect::<String>();
        format!("{y}{features}\n")
    });
    dir.write("d.svm", text);
    let words = dir.run("train d.svm -a ftrl --rate 0.1 --l1 0").stderr;
    assert!(words.contains("likely reason: nothing in the rows predicts the label"), "{words}");
}

#[test]
fn weights_that_diverge_stop_with_the_same_advice() {
    let dir = Dir::new();
    let text = rows(500, |_, unit| {
        let x = unit();
        format!("{:.3} 1:{:.3} 2:{:.1}\n", 2.0 * x + unit(), x, 1e5 * unit())
    });
    dir.write("d.svm", text);
    let words = dir.run("train d.svm -a sgd --loss squared --rate 1").fails(1);
    assert!(words.contains("error: the weights diverged at row "), "{words}");
    assert!(words.contains("likely reason: the values of \"2\" are "), "{words}");
    assert!(words.contains("try: --normalize"), "{words}");
}

#[test]
fn a_column_that_gives_the_label_away_is_named() {
    let dir = Dir::new();
    let table = |n: u32, keep: fn(u32) -> bool| {
        let table = rows(n, |i, unit| {
            let y = unit() < 0.4;
            let told = if keep(i) { y } else { !y };
            let (refund, price) = (if told { 20.0 } else { 0.0 }, unit());
            format!("{},{price:.4},{:.2}\n", u8::from(y), refund + unit())
        });
        format!("returned,price,refund\n{table}")
    };
    dir.write("leak.csv", table(2500, |_| true));
    let words =
        dir.run("train leak.csv --label-column returned -a ftrl --normalize --beta 0").stderr;
    let line = "warning: possible leak: \"refund\" alone separates the two classes with 0 errors in 2,500 rows";
    assert!(words.contains(line), "{words}");
    // A feature that is merely good is no leak.
    dir.write("good.csv", table(2500, |i| i % 50 != 0));
    let words =
        dir.run("train good.csv --label-column returned -a ftrl --normalize --beta 0").stderr;
    assert!(!words.contains("leak"), "{words}");
    let numbers = rows(1500, |_, unit| {
        let total = 100.0 * unit();
        format!("{total:.3},{:.3},{:.3}\n", 1.19 * total, unit())
    });
    dir.write("n.csv", format!("net,gross,other\n{numbers}"));
    let words = dir.run("train n.csv --label-column net -a auto --loss squared").stderr;
    assert!(
        words.contains("possible leak: \"gross\" alone has a correlation of 1.0000"),
        "{words}"
    );
}

#[test]
fn an_evaluation_shows_the_constant_with_intervals() {
    let dir = Dir::new();
    dir.write("d.svm", stream(2000)).write("t.svm", stream(500)).write("noise.svm", noise(500));
    dir.run("train d.svm -a ftrl -o m.psm --quiet").ok();
    let beside = &dir.run("evaluate m.psm t.svm --json -").json()["beside_constant"];
    assert_eq!(beside["constant_from"], "training_labels");
    let number = |what: &str, which: &str| beside[what][which].as_f64().unwrap();
    for what in ["model", "constant", "difference"] {
        let (low, mean, high) = (number(what, "low"), number(what, "mean"), number(what, "high"));
        assert!(low < mean && mean < high, "{beside}");
    }
    let gap = number("model", "mean") - number("constant", "mean");
    assert!((number("difference", "mean") - gap).abs() < 1e-12 && gap < -0.02, "{beside}");
    // Paired: the difference is known better than either loss would allow.
    assert!(number("difference", "high") < 0.0, "{beside}");
    let words = dir.run("evaluate m.psm t.svm").ok();
    assert!(words.contains("95% interval"), "{words}");
    assert!(words.contains("the constant is from the labels the model was trained on"), "{words}");
    assert!(!words.contains("warning"), "{words}");
    let words = dir.run("evaluate m.psm noise.svm").ok();
    assert!(words.contains("warning: the model is no better than the constant"), "{words}");
}

#[test]
fn a_comparison_never_recommends_what_a_constant_beats() {
    let dir = Dir::new();
    dir.write("noise.svm", noise(1500)).write("d.svm", stream(1500)).write("t.svm", stream(300));
    let methods = "-m sgd:rate=5 -m ftrl:rate=2,l1=0";
    let table = dir.run(&format!("compare noise.svm {methods} --json c.json --html p.html")).ok();
    let compared = report(&dir, "c.json");
    let constant = compared["constant"]["cost"].as_f64().unwrap();
    let methods = compared["methods"].as_array().unwrap();
    assert!(methods.iter().all(|m| m["cost"].as_f64().unwrap() > constant), "{table}");
    assert_eq!(compared["recommended"], Value::Null);
    assert!(table.contains("nothing beats the constant") && !table.contains("best"), "{table}");
    assert!(table.lines().any(|line| line.starts_with("constant ")), "{table}");
    let page = String::from_utf8(dir.read("p.html")).unwrap();
    assert!(page.contains("Nothing beats the constant"));
    // Without methods `auto` is among them; with test data the constant is judged on it.
    for test in ["", "--test t.svm"] {
        let table = dir.run(&format!("compare d.svm {test} --json c.json")).ok();
        let compared = report(&dir, "c.json");
        assert_eq!(compared["methods"][0]["method"], "auto");
        let best = compared["recommended"]["best"]["run"].as_u64().unwrap() as usize;
        let cost = compared["methods"][best]["cost"].as_f64().unwrap();
        let constant = compared["constant"]["cost"].as_f64().unwrap();
        assert!(cost < constant && constant < 0.7, "{table}");
        assert_eq!(compared["constant"]["test"].is_object(), !test.is_empty());
    }
}
