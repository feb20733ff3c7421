//! Calibrations are stored in the model and applied to its predictions.

use super::fixture::Dir;
use super::predict::{people, trained};

fn numbers(lines: &str) -> Vec<f64> {
    lines.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn a_calibrated_model_predicts_other_probabilities() {
    let dir = trained();
    dir.write("h.csv", people(1500, 5));
    let raw = dir.run("predict m.psm u.csv").ok();
    let before = dir.read("m.psm");
    for method in ["platt", "isotonic"] {
        let table = dir.run(&format!("calibrate m.psm h.csv --method {method} -o c.psm")).ok();
        let ratio: Vec<&str> = table
            .lines()
            .find(|l| l.starts_with("calibration ratio"))
            .unwrap()
            .split_whitespace()
            .collect();
        // Both methods fit the mean, Platt's but for its priors.
        let after: f64 = ratio[3].parse().unwrap();
        assert!((after - 1.0).abs() < 0.01, "{table}");
        assert_eq!(dir.read("m.psm"), before);
        let calibrated = dir.run("predict c.psm u.csv").ok();
        assert_ne!(calibrated, raw);
        assert_eq!(dir.run("predict c.psm u.csv --raw").ok(), raw);
        assert_eq!(
            dir.run("predict c.psm u.csv --as margin").ok(),
            dir.run("predict m.psm u.csv --as margin").ok()
        );
        // Both are in the table, and the order of the rows is that of the margins.
        let table = dir.run("predict c.psm u.csv --output-format csv").ok();
        let cells = |k: usize| -> Vec<f64> {
            table.lines().skip(1).map(|l| l.split(',').nth(k).unwrap().parse().unwrap()).collect()
        };
        assert!(table.starts_with("label,prediction,raw\n"));
        assert_eq!((cells(1), cells(2)), (numbers(&calibrated), numbers(&raw)));
        let mut pairs: Vec<_> = cells(2).into_iter().zip(cells(1)).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(pairs.windows(2).all(|w| w[0].1 <= w[1].1));
        // The metrics are those of the calibrated probabilities.
        let loss = |words: &str| dir.run(words).json()["log_loss"].as_f64().unwrap();
        let labels = people(400, 2);
        let own: f64 = numbers(&calibrated)
            .iter()
            .zip(labels.lines().skip(1))
            .map(|(p, row)| -if row.ends_with("yes") { p.ln() } else { (1.0 - p).ln() })
            .sum::<f64>()
            / 400.0;
        assert!((loss("evaluate c.psm u.csv --json -") - own).abs() < 1e-9);
        assert_eq!(
            loss("evaluate c.psm u.csv --raw --json -"),
            loss("evaluate m.psm u.csv --json -")
        );
        let shown = dir.run("inspect c.psm").ok();
        let words = shown.lines().find(|l| l.starts_with("calibration")).unwrap();
        assert!(words.ends_with(method), "{words}");
    }
    // Without -o the model is replaced, and an earlier calibration with it.
    let ran = dir.run("calibrate c.psm h.csv");
    assert!(ran.stderr.contains("is replaced"), "{}", ran.stderr);
    assert!(dir.run("inspect c.psm").ok().contains("platt"));
}

#[test]
fn margins_of_a_hinge_become_probabilities() {
    let dir = trained();
    dir.run("train t.csv --label-column bought -a ftrl --loss hinge -o h.psm").ok();
    assert!(
        dir.run("predict h.psm u.csv --as probability").fails(2).contains("parsimon calibrate")
    );
    let table = dir.run("calibrate h.psm u.csv").ok();
    assert!(table.lines().any(|l| l.starts_with("log loss") && l.contains(" - ")), "{table}");
    let p = numbers(&dir.run("predict h.psm u.csv").ok());
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(dir.run("evaluate h.psm u.csv --json -").json()["log_loss"].as_f64().unwrap() < 0.7);
}

#[test]
fn what_cannot_be_calibrated_is_refused_with_the_reason() {
    let dir = trained();
    dir.write("n.svm", (0..200).map(|i| format!("{}.5 1:{i}\n", i % 9)).collect::<String>())
        .write("c.vw", "a |f x\nb |f y\nc |f z\n".repeat(50))
        .write("few.csv", people(99, 4))
        .write("one.csv", format!("uid,age,city,bought\n{}", "u,30,Oslo,no\n".repeat(150)));
    dir.run("train n.svm -o n.psm").ok();
    dir.run("train c.vw --multiclass -o c.psm").ok();
    for (words, why) in [
        ("calibrate n.psm n.svm", "the loss squared predicts numbers"),
        ("calibrate c.psm c.vw", "one set of weights per class"),
        ("calibrate m.psm few.csv", "at least 100 labeled rows, got 99"),
        ("calibrate m.psm one.csv", "all rows have the same label"),
    ] {
        let error = dir.run(words).fails(2);
        assert!(error.contains(why), "{words}: {error}");
    }
}

#[test]
fn other_data_is_not_fitted() {
    let dir = trained();
    let error = dir.run("calibrate m.psm u.csv -o u.csv").fails(2);
    assert!(error.contains("u.csv"), "{error}");
    assert!(Dir::new().run("calibrate nowhere.psm u.csv").fails(1).contains("nowhere.psm"));
}
