//! Metrics by segment, at a threshold, of some rows.

use super::fixture::Dir;
use super::predict::trained;

#[test]
fn segments_add_up_to_the_whole() {
    let dir = trained();
    let all = dir.run("evaluate m.psm u.csv --by city --json -").json();
    let segments = all["segments"]["worst"].as_array().unwrap();
    assert_eq!(segments.len(), 3);
    let excess =
        |s: &serde_json::Value| s["loss"].as_f64().unwrap() - s["constant_loss"].as_f64().unwrap();
    assert!(segments.windows(2).all(|w| excess(&w[0]) >= excess(&w[1])));
    let sum = |field: &str| -> f64 {
        let part = |s: &serde_json::Value| s["rows"].as_f64().unwrap() * s[field].as_f64().unwrap();
        segments.iter().map(part).sum::<f64>() / 400.0
    };
    assert!((sum("loss") - all["mean_loss"].as_f64().unwrap()).abs() < 1e-12);
    assert!((sum("label_rate") - all["base_rate"].as_f64().unwrap()).abs() < 1e-12);
    let constant = all["beside_constant"]["constant"]["mean"].as_f64().unwrap();
    assert!((sum("constant_loss") - constant).abs() < 1e-12);
    let text = dir.run("evaluate m.psm u.csv --by city").ok();
    assert!(text.contains("\nParis, France "), "{text}");
    // Many values: none has twenty rows, twenty are shown, the rest is one line.
    let text = dir.run("evaluate m.psm u.csv --by uid").ok();
    assert!(text.contains("(380 other values)"), "{text}");
    assert!(dir.run("evaluate m.psm u.csv --by town").fails(1).contains("has no column \"town\""));
}

#[test]
fn a_threshold_has_its_decisions_beside_the_usual_ones() {
    let dir = trained();
    let at = dir.run("evaluate m.psm u.csv --threshold 0.2 --json -").json();
    let plain = dir.run("evaluate m.psm u.csv --json -").json();
    assert_eq!(
        (&at["recall"], &plain["at_threshold"]),
        (&plain["recall"], &serde_json::Value::Null)
    );
    let predictions = dir.run("predict m.psm u.csv --output-format csv").ok();
    let rows = predictions.lines().skip(1).map(|line| line.split_once(',').unwrap());
    let called = |positive: bool| {
        let wanted = if positive { "yes" } else { "no" };
        let called = rows.clone().filter(|(y, p)| *y == wanted && p.parse::<f64>().unwrap() > 0.2);
        called.count() as f64
    };
    let confusion = &at["at_threshold"]["confusion"];
    assert_eq!(confusion["true_positive"].as_f64(), Some(called(true)));
    assert_eq!(confusion["false_positive"].as_f64(), Some(called(false)));
    assert!(dir.run("evaluate m.psm u.csv --threshold 0.2").ok().contains("at threshold  0.2000"));
    assert!(dir.run("evaluate m.psm u.csv --threshold 1.5").fails(2).contains("between 0 and 1"));
}

#[test]
fn skip_and_limit_are_a_part_of_the_data() {
    let dir = trained();
    let source = super::predict::people(400, 2);
    let lines: Vec<&str> = source.lines().collect();
    let part: Vec<&str> = [&lines[..1], &lines[31..131]].concat();
    dir.write("part.csv", part.join("\n"));
    let windowed = dir.run("evaluate m.psm u.csv --skip 30 --limit 100 --threads 1").ok();
    assert_eq!(windowed, dir.run("evaluate m.psm part.csv").ok());
    assert_eq!(
        dir.run("predict m.psm u.csv --skip 30 --limit 100").ok(),
        dir.run("predict m.psm part.csv").ok()
    );
}

#[test]
fn rare_events_have_bins_of_log_odds() {
    let dir = Dir::new();
    let rows: String = (0..6000)
        .map(|i| format!("{} |f a{} b\n", i32::from(i % 97 == 0 || i % 251 < 3), i % 251))
        .collect();
    dir.write("d.vw", rows);
    dir.run("train d.vw -o m.psm").ok();
    let text = dir.run("evaluate m.psm d.vw --plot r.svg").ok();
    assert!(text.contains("in bins of equal width in the log odds"), "{text}");
    let svg = String::from_utf8(dir.read("r.svg")).unwrap();
    assert!(svg.contains("in bins of equal width in the log odds"));
}
