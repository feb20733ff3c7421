//! Files whose rows are sorted, or change along the file: a learner that follows the last rows forgets the first.

use parsimon_testing::SplitMix64;

use crate::fixture::Dir;

/// Rows whose label depends on `a`; with `is_sorted`, those of each label stand together.
fn table(rows: usize, is_sorted: bool) -> String {
    let mut random = SplitMix64::new(3);
    let mut lines: Vec<(bool, String)> = (0..rows)
        .map(|_| {
            let (a, b) = (random.unit(), random.unit());
            let is_yes = random.unit() < 1.0 / (1.0 + (5.0 - 10.0 * a).exp());
            (is_yes, format!("{a:.3},{b:.3},{}\n", if is_yes { "yes" } else { "no" }))
        })
        .collect();
    if is_sorted {
        lines.sort_by_key(|(is_yes, _)| *is_yes);
    }
    let lines: String = lines.into_iter().map(|(_, line)| line).collect();
    format!("a,b,outcome\n{lines}")
}

fn loss(dir: &Dir, model: &str) -> (f64, f64) {
    let found = dir.run(&format!("evaluate {model} t.csv --json -")).json();
    (found["mean_loss"].as_f64().unwrap(), found["base_log_loss"].as_f64().unwrap())
}

#[test]
fn rows_in_an_order_that_misleads_are_learned_again_in_random_order() {
    let dir = Dir::new();
    dir.write("t.csv", table(4000, true));
    let told = dir.run("train t.csv -o m.psm").stderr;
    assert!(told.contains("learned again in random order, as with --shuffle 4000"), "{told}");
    assert_eq!(told.matches("3 columns").count(), 1, "{told}");
    let (mixed, constant) = loss(&dir, "m.psm");
    assert!(mixed < 0.75 * constant, "{mixed}, a constant {constant}");
    // Equal to the result with the flag.
    let told = dir.run("train t.csv -o asked.psm --shuffle 4000").stderr;
    assert!(!told.contains("forgotten"), "{told}");
    assert_eq!(loss(&dir, "asked.psm"), (mixed, constant));
    // The command that is printed gives the same model, and the report has the reason.
    let told = dir.run("train t.csv -o m.psm --json r.json").stderr;
    let (_, flags) = told.split_once("settings chosen by auto: ").unwrap();
    let flags = flags.lines().next().unwrap();
    assert!(flags.ends_with(" --shuffle 4000"), "{flags}");
    dir.run(&format!("train t.csv {flags} -o named.psm --quiet")).ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).json();
    assert_eq!(weights("named.psm")["weights"], weights("m.psm")["weights"]);
    let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(report["shuffle"]["rows"], 4000);
    assert_eq!(
        (&report["shuffle"]["seed"], &report["shuffle"]["because"]),
        (&1.into(), &"hindsight".into())
    );
    let found = &report["hindsight"];
    assert!(found["loss"].as_f64() > found["progressive_loss"].as_f64(), "{found}");
    // In order, with a warning.
    let told = dir.run("train t.csv -o kept.psm --no-shuffle").stderr;
    assert!(told.contains("warning: the final model has forgotten"), "{told}");
    assert!(told.contains("try: --shuffle 4000"), "{told}");
    assert!(loss(&dir, "kept.psm").0 > 1.3 * mixed);
}

#[test]
fn streams_and_named_methods_keep_their_order_with_a_warning() {
    let dir = Dir::new();
    dir.write("t.csv", table(4000, true));
    for flags in ["-a ftrl --normalize --rate 2 --beta 0 --l1 0.03", "--checkpoint c.psk"] {
        let told = dir.run(&format!("train t.csv -o m.psm {flags}")).stderr;
        assert!(told.contains("warning: the final model has forgotten"), "{flags}: {told}");
        assert!(!told.contains("again"), "{flags}: {told}");
    }
    let piped = table(4000, true);
    let told = dir.run_with("train - --format csv --classes no,yes", piped.as_bytes());
    assert!(told.stderr.contains("try: --shuffle 4000"), "{}", told.stderr);
    assert!(dir.run("train t.csv --shuffle --no-shuffle").fails(2).contains("cannot be used with"));
}

/// Flowers of three kinds, 50 of each, one kind after the other, as in many a table of a textbook.
#[test]
fn a_small_table_sorted_by_class_is_learned_again_in_random_order() {
    let dir = Dir::new();
    let mut random = SplitMix64::new(7);
    let mut lines = String::from("length,width,class\n");
    for (kind, length) in [("a", 1.5), ("b", 4.3), ("c", 5.5)] {
        for _ in 0..50 {
            let spread = (random.unit() + random.unit() - 1.0) * 0.8;
            let width = 0.35 * length + 0.4 * random.unit();
            lines += &format!("{:.2},{width:.2},{kind}\n", length + spread);
        }
    }
    dir.write("t.csv", lines);
    let error = |model: &str| {
        let found = dir.run(&format!("evaluate {model} t.csv --json -")).json();
        1.0 - found["accuracy"].as_f64().unwrap()
    };
    let told = dir.run("train t.csv -o m.psm").stderr;
    assert!(told.contains("learned again in random order, as with --shuffle 150"), "{told}");
    dir.run("train t.csv -o kept.psm --no-shuffle").ok();
    let (mixed, kept) = (error("m.psm"), error("kept.psm"));
    assert!(mixed < 0.15 && kept > 2.0 * mixed, "{mixed}, in the order of the file {kept}");
}

#[test]
fn rows_in_no_order_are_learned_once() {
    let dir = Dir::new();
    for rows in [30, 60, 150, 400, 4000] {
        dir.write("t.csv", table(rows, false));
        let told = dir.run("train t.csv -o m.psm").stderr;
        assert!(!told.contains("forgotten"), "{rows}: {told}");
    }
}

#[test]
fn numbers_in_time_order_stand_beside_their_last_label() {
    let dir = Dir::new();
    let (mut random, mut level) = (SplitMix64::new(3), 0.0);
    let mut lines = String::from("a,b,y\n");
    for _ in 0..4000 {
        level = 0.995 * level + random.unit() - 0.5;
        lines += &format!("{:.3},{:.3},{level:.3}\n", level + 3.0 * random.unit(), random.unit());
    }
    dir.write("t.csv", lines);
    let told = dir.run("train t.csv --label y --no-shuffle --json r.json").stderr;
    assert!(
        told.contains("(a constant prediction ") && told.contains(", the last label "),
        "{told}"
    );
    assert!(told.contains("repeating the last label predicts the next row better"), "{told}");
    let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    let last = report["last_label_loss"].as_f64().unwrap();
    assert!(last < report["progressive_loss"].as_f64().unwrap(), "{report}");
    // In another order there is no last label to speak of.
    let told = dir.run("train t.csv --label y --shuffle 4000").stderr;
    assert!(!told.contains("the last label"), "{told}");
}

#[test]
fn half_lives_race_where_they_are_wanted() {
    let dir = Dir::new();
    let mut random = SplitMix64::new(5);
    let mut rows = String::new();
    for i in 0..8000 {
        let sign = if i / 1500 % 2 == 0 { 1.0 } else { -1.0 };
        let (a, b) = (random.unit() - 0.5, random.unit() - 0.5);
        let label = if sign * a + 0.1 * (random.unit() - 0.5) > 0.0 { "1" } else { "-1" };
        rows += &format!("{label} 1:{a:.4} 2:{b:.4}\n");
    }
    dir.write("t.svm", rows);
    let told = dir.run("train t.svm --no-shuffle").stderr;
    assert!(!told.contains("half_life") && !told.contains("--half-life"), "{told}");
    // The command that is printed gives the same model.
    let told = dir.run("train t.svm --half-lives -o raced.psm").stderr;
    assert!(told.contains("--half-life "), "{told}");
    let (_, flags) = told.split_once("settings chosen by auto: ").unwrap();
    let flags = flags.lines().next().unwrap();
    dir.run(&format!("train t.svm {flags} -o named.psm --quiet")).ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).json();
    assert_eq!(weights("named.psm")["weights"], weights("raced.psm")["weights"]);
}
