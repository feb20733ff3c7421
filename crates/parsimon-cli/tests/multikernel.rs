//! The multikernel filters, as a user meets them.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::Dir;
use parsimon_testing::Lcg64;
use serde_json::Value;

/// The function of Yukawa and Ishii: `y = exp(-20 (x - 0.1)^2) - 2 exp(-20 (x - 0.8)^2)` and noise.
fn bumps(rows: u64, seed: u64) -> String {
    let mut random = Lcg64::new(seed);
    let mut unit = || f64::from(random.bits31()) / (1u64 << 31) as f64;
    let mut text = String::from("y,x\n");
    for _ in 0..rows {
        let x = unit();
        let noise = (0..12).map(|_| unit()).sum::<f64>() - 6.0;
        let bump = |at: f64| (-20.0 * (x - at) * (x - at)).exp();
        text.push_str(&format!("{:.6},{x:.6}\n", bump(0.1) - 2.0 * bump(0.8) + 0.1 * noise));
    }
    text
}

fn data() -> Dir {
    let dir = Dir::new();
    dir.write("train.csv", bumps(1500, 7)).write("test.csv", bumps(500, 8));
    dir
}

#[test]
fn a_curve_is_learned_from_rows_and_predicted() {
    for (algorithm, l1) in [("multikernel-pda", "1e-3"), ("multikernel-apfbs", "1e-5")] {
        let dir = data();
        dir.run(&format!("train -a {algorithm} --l1 {l1} train.csv -o m.psm --quiet")).ok();
        let metrics = dir.run("evaluate m.psm test.csv --json -").json();
        // The noise has a variance of 0.01 and the labels one of 1.1: the best constant has an R2 of 0.
        let r2 = metrics["r2"].as_f64().unwrap();
        assert!(r2 > 0.98, "{algorithm}: {metrics}");
        let predictions = dir.run("predict m.psm test.csv").ok();
        let labels = String::from_utf8(dir.read("test.csv")).unwrap();
        let error: f64 = labels
            .lines()
            .skip(1)
            .zip(predictions.lines())
            .map(|(row, p)| {
                let y: f64 = row.split(',').next().unwrap().parse().unwrap();
                (y - p.parse::<f64>().unwrap()).powi(2)
            })
            .sum::<f64>()
            / 500.0;
        assert!(error < 0.02, "{algorithm}: the mean squared error is {error}");
        let header = dir.run("inspect m.psm --json").json();
        assert!(header["nonzeros"].as_u64().unwrap() < 150, "{header}");
    }
}

#[test]
fn inspect_shows_the_dictionary() {
    let dir = data();
    dir.run(
        "train -a multikernel-pda --l1 1e-2 --kernel gaussian,linear --variances 0.01,0.5 \
             train.csv -o m.psm --quiet",
    )
    .ok();
    let summary = dir.run("inspect m.psm --top 3").ok();
    assert!(summary.contains("gaussian(0.01), gaussian(0.5), linear"), "{summary}");
    let rows = summary.lines().filter(|line| line.starts_with("x:")).count();
    assert_eq!(rows, 3, "{summary}");
    let json = dir.run("inspect m.psm --weights json").json();
    assert_eq!(json["kernels"].as_array().unwrap().len(), 3);
    let centers = json["centers"].as_array().unwrap();
    assert!(centers.iter().all(
        |c| c["coefficients"].as_array().unwrap().len() == 3 && c["features"]["x"].is_number()
    ));
    let tsv = dir.run("inspect m.psm --weights tsv").ok();
    assert_eq!(tsv.lines().next(), Some("center\tgaussian(0.01)\tgaussian(0.5)\tlinear"));
    assert_eq!(tsv.lines().count(), centers.len() + 1);
    assert_eq!(dir.run("inspect m.psm --json").json()["nonzeros"], centers.len());
}

#[test]
fn a_filter_goes_on_where_it_stopped() {
    let dir = data();
    let flags = "-a multikernel-apfbs --l1 1e-5 --variances 0.01;0.1 --quiet";
    dir.run(&format!("train {flags} train.csv -o whole.psm")).ok();
    dir.run(&format!("train {flags} train.csv --limit 700 --checkpoint c.ckpt")).ok();
    dir.run("train --resume c.ckpt --skip 700 train.csv -o parts.psm --quiet").ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).ok();
    assert_eq!(weights("whole.psm"), weights("parts.psm"));
    let predictions = |model: &str| dir.run(&format!("predict {model} test.csv")).ok();
    assert_eq!(predictions("whole.psm"), predictions("parts.psm"));
}

#[test]
fn a_spec_file_says_the_same_as_flags() {
    let dir = data();
    dir.write("s.toml", "algorithm = \"multikernel-pda\"\nl1 = 1e-3\nvariances = [0.01, 0.1]\n");
    dir.write(
        "s.json",
        r#"{"algorithm": "multikernel-pda", "l1": 1e-3, "variances": [0.01, 0.1]}"#,
    );
    let weights = |flags: &str| {
        dir.run(&format!("train {flags} train.csv -o m.psm --quiet")).ok();
        dir.run("inspect m.psm --weights tsv").ok()
    };
    let flags = weights("-a multikernel-pda --l1 1e-3 --variances 0.01,0.1");
    assert_eq!(weights("--spec s.toml"), flags);
    assert_eq!(weights("--spec s.json"), flags);
}

#[test]
fn a_filter_is_compared_with_linear_methods() {
    let dir = data();
    let report = dir
        .run(
            "compare train.csv --json - -m ftrl:loss=squared \
                          -m multikernel-pda:l1=1e-3,variances=0.01;0.1,rate=0.5",
        )
        .json();
    let loss = |k: usize| report["methods"][k]["progressive"]["mean_loss"].as_f64().unwrap();
    assert!(loss(1) < 0.1 * loss(0), "{report}");
    assert_eq!(report["methods"][1]["settings"]["variances"], serde_json::json!([0.01, 0.1]));
}

#[test]
fn what_is_for_linear_models_says_so() {
    let dir = data();
    let report = "train -a multikernel-pda --l1 1e-3 train.csv -o m.psm --json r.json";
    let told = dir.run(report);
    assert!(
        told.stderr.contains("rows in the dictionary") && told.stderr.contains("no bias"),
        "{}",
        told.stderr
    );
    told.ok();
    let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(report["bias"], false);
    let audit = dir.run("predict m.psm test.csv --audit").fails(2);
    assert!(audit.contains("a dictionary has none"), "{audit}");
    let classes = dir.run("train -a multikernel-pda --multiclass train.csv").fails(2);
    assert!(classes.contains("knows no classes"), "{classes}");
}
