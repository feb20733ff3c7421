//! The obvious command on a file of one's own: `parsimon train FILE`.

use parsimon_testing::SplitMix64;
use serde_json::Value;

use crate::fixture::Dir;

/// A table as people have it: columns of very different size, a category, missing cells, outliers; the label is `bought`.
fn table(rows: usize, label: impl Fn(f64) -> String) -> String {
    let mut random = SplitMix64::new(7);
    let mut text = String::from("income,age,visits,city,bought\n");
    for _ in 0..rows {
        let age = 20.0 + 50.0 * random.unit();
        let income = 1e4 + 9e4 * random.unit() * random.unit();
        let visits = if random.unit() < 0.01 { 1e6 } else { (10.0 * random.unit()).floor() };
        let city = ["Rome", "Oslo", "Lima"][(3.0 * random.unit()) as usize];
        let score =
            (age - 45.0) / 10.0 + (income - 4e4) / 4e4 + f64::from(u8::from(city == "Oslo"));
        let age = if random.unit() < 0.05 { String::new() } else { format!("{age:.1}") };
        text +=
            &format!("{income:.0},{age},{visits},{city},{}\n", label(score + random.unit() - 0.5));
    }
    text
}

fn yes_or_no(score: f64) -> String {
    if score > 0.0 { "yes".into() } else { "no".into() }
}

fn report(dir: &Dir, words: &str) -> Value {
    dir.run(&format!("train {words} --label-column bought --json r.json --quiet -o m.psm")).ok();
    serde_json::from_slice(&dir.read("r.json")).unwrap()
}

#[test]
fn a_raw_table_is_learned_far_below_the_constant() {
    let dir = Dir::new();
    dir.write("t.csv", table(3000, yes_or_no));
    let loss = report(&dir, "t.csv")["progressive_loss"].as_f64().unwrap();
    // The constant has about 0.69.
    assert!(loss < 0.35, "{loss}");
    let shown = dir.run("inspect m.psm").ok();
    assert!(shown.contains("Number columns are centered"), "{shown}");
    let weights = dir.run("inspect m.psm --weights json").json();
    assert!(weights["columns"]["age"]["high"].as_f64().unwrap() > 70.0, "{weights}");
    assert!(
        dir.run("inspect m.psm --weights tsv").ok().starts_with("feature\tweight\tlow\thigh\n")
    );
    // Contributions add up to the margin, also those of number columns.
    let margin: f64 =
        dir.run("predict m.psm t.csv --as margin").ok().lines().next().unwrap().parse().unwrap();
    let audit = dir.run("predict m.psm t.csv --audit").ok();
    let parts = audit.lines().skip(1).take_while(|line| line.starts_with('\t'));
    let sum: f64 =
        parts.map(|line| line.rsplit('\t').next().unwrap().parse::<f64>().unwrap()).sum();
    assert!((margin - sum).abs() < 1e-5 * margin.abs().max(1.0), "{margin} {sum}");
}

#[test]
fn the_command_that_is_named_gives_the_same_model() {
    let dir = Dir::new();
    dir.write("t.csv", table(3000, yes_or_no));
    for passes in ["", " --passes 2"] {
        let told = dir.run(&format!("train t.csv --label-column bought -o auto.psm{passes}"));
        let line =
            told.stderr.lines().find_map(|l| l.strip_prefix("settings chosen by auto: ")).unwrap();
        dir.run(&format!("train t.csv --label-column bought -o named.psm{passes} {line}")).ok();
        // The progressive losses differ: before the first look another setting led.
        let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).ok();
        assert_eq!(weights("auto.psm"), weights("named.psm"));
        let predictions = |model: &str| dir.run(&format!("predict {model} t.csv")).ok();
        assert_eq!(predictions("auto.psm"), predictions("named.psm"));
    }
}

#[test]
fn labels_decide_the_loss_and_the_guess_is_printed() {
    let dir = Dir::new();
    dir.write("two.csv", table(300, yes_or_no));
    dir.write("numbers.csv", table(300, |score| format!("{:.3}", 1e6 + 1e4 * score)));
    dir.write(
        "classes.csv",
        table(300, |score| {
            ["low", "middle", "high"][(score.clamp(-1.0, 0.9) * 1.5 + 1.5) as usize].into()
        }),
    );
    for (file, guess, loss) in [
        (
            "two.csv",
            "labels: two classes, no, yes; the probability of yes is predicted",
            "logistic",
        ),
        ("numbers.csv", "labels: numbers, so --loss squared", "squared"),
        ("classes.csv", "labels: 3 classes (high, low, middle), so --multiclass", "softmax"),
    ] {
        let told = dir.run(&format!("train {file} --label-column bought --json r.json")).stderr;
        assert!(told.contains(guess), "{told}");
        let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        assert_eq!(report["settings"]["loss"], loss);
        assert_eq!(report["settings"]["multiclass"], file == "classes.csv");
    }
    let given = dir.run("train two.csv --label-column bought --loss hinge").stderr;
    assert!(!given.contains("labels: "), "{given}");
}

#[test]
fn predicted_numbers_stay_in_the_range_of_the_labels() {
    let dir = Dir::new();
    dir.write("t.csv", table(2000, |score| format!("{:.3}", 1e6 + 1e4 * score)));
    dir.write("far.csv", "income,age,visits,city\n1e9,1e9,0,Rome\n");
    let predicted = |flags: &str| {
        dir.run(&format!("train t.csv --label-column bought -o m.psm --quiet {flags}")).ok();
        dir.run("predict m.psm far.csv").ok().trim().parse::<f64>().unwrap()
    };
    let (clipped, free) = (predicted(""), predicted("--no-clip-predictions"));
    assert!(clipped > 1.01e6 && clipped < 1.05e6, "{clipped}");
    assert!(free > clipped, "{free} {clipped}");
    let error = dir.run("train t.csv --label-column bought -a ftrl --no-clip-predictions").fails(2);
    assert!(error.contains("without normalize"), "{error}");
}

#[test]
fn a_flag_fixes_an_axis_and_a_foreign_one_is_refused() {
    let dir = Dir::new();
    dir.write("t.csv", table(2000, yes_or_no));
    let told = dir.run("train t.csv --label-column bought --l1 0.5").stderr;
    assert!(told.contains("settings chosen by auto: ") && told.contains("--l1 0.5"), "{told}");
    let error = dir.run("train t.csv --label-column bought --beta 1").fails(2);
    assert_eq!(
        error,
        "error: --beta is a setting of rda, ftrl, comid, ftprl, ...; choose one, for example -a ftrl --beta ..."
    );
    let error = dir.run("train t.csv --label-column bought --regret").fails(2);
    assert!(error.contains("leave out --normalize, or pass --algorithm NAME"), "{error}");
}

/// Between semicolons a comma may be a decimal one: how the label was read is printed as it is of other columns.
#[test]
fn the_form_of_a_label_is_printed() {
    let dir = Dir::new();
    let row = |k: usize| format!("{};{};\"${},000\"\n", k % 17, k % 5, 20 + k % 17);
    dir.write(
        "prices.csv",
        "size;rooms;price\n".to_owned() + &(0..200).map(row).collect::<String>(),
    );
    let ran = dir.run("train prices.csv --label-column price");
    assert!(ran.stderr.contains("numbers written like 1.234,5: price"), "{}", ran.stderr);
}
