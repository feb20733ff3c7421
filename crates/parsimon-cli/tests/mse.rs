//! The squared loss is shown as the mean squared error; files keep the loss, which is half of it.

use super::fixture::Dir;

#[test]
fn people_read_the_mean_squared_error() {
    let dir = Dir::new();
    let rows = |n: u32| -> String {
        (0..n).map(|i| format!("{}.25 1:{} 2:{}\n", (i * 7) % 13, i % 13, i % 5)).collect()
    };
    dir.write("d.svm", rows(800)).write("u.svm", rows(300));
    let ran = dir.run("train d.svm --loss squared --passes 1 -o m.psm --json r.json");
    assert!(ran.stderr.contains("       MSE   constant since last"), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    let (loss, mse) = (&report["progressive_loss"], &report["progressive_mse"]);
    let (loss, mse) = (loss.as_f64().unwrap(), mse.as_f64().unwrap());
    assert_eq!(mse, 2.0 * loss);
    let shown = parsimon_shown(mse);
    assert!(ran.stderr.contains(&format!("progressive MSE {shown}")), "{}", ran.stderr);
    assert!(dir.run("inspect m.psm").ok().contains("progressive MSE"));
    // The metric, from predictions and labels.
    let table = dir.run("predict m.psm u.svm --output-format csv").ok();
    let errors: Vec<f64> = table
        .lines()
        .skip(1)
        .map(|line| {
            let (y, p) = line.split_once(',').unwrap();
            (y.parse::<f64>().unwrap() - p.parse::<f64>().unwrap()).powi(2)
        })
        .collect();
    let own = errors.iter().sum::<f64>() / 300.0;
    let metrics = dir.run("evaluate m.psm u.svm --json -").json();
    assert!((metrics["mse"].as_f64().unwrap() - own).abs() < 1e-9 * own);
    assert!((2.0 * metrics["mean_loss"].as_f64().unwrap() - own).abs() < 1e-9 * own);
    let text = dir.run("evaluate m.psm u.svm").ok();
    assert!(text.contains("\nMSE ") && !text.contains("mean loss"), "{text}");
    for command in
        ["compare d.svm -m sgd:loss=squared -m ftrl:loss=squared", "tune d.svm --loss squared"]
    {
        let text = dir.run(command).ok();
        assert!(text.contains("MSE  ") && !text.contains("mean loss"), "{text}");
        let report = dir.run(&format!("{command} --json -")).json();
        assert_eq!(report["criterion"], "progressive MSE");
        let run =
            report["methods"].as_array().unwrap().iter().find(|m| m["progressive_loss"].is_f64());
        let run = run.unwrap();
        assert_eq!(run["cost"], run["progressive_mse"]);
        assert_eq!(run["cost"].as_f64(), run["progressive_loss"].as_f64().map(|loss| 2.0 * loss));
    }
}

/// Six digits, as the program shows them.
fn parsimon_shown(x: f64) -> String {
    let digits = 6 - 1 - x.abs().log10().floor() as i32;
    format!("{x:.*}", digits.max(0) as usize)
}
