//! Predictions: one line per row, tables, contributions, and data that the model does not know.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use super::fixture::{Dir, stream};

/// People who buy with age, and more in Oslo.
pub(crate) fn people(rows: u64, seed: u64) -> String {
    let mut random = parsimon_testing::Lcg64::new(seed);
    let mut text = "uid,age,city,bought\n".to_owned();
    for i in 0..rows {
        let age = 18 + random.bits31() % 60;
        let city = ["Oslo", "Rome", "\"Paris, France\""][(random.bits31() % 3) as usize];
        let margin = (f64::from(age) - 50.0) / 10.0 + if city == "Oslo" { 1.0 } else { -1.0 };
        let chance = f64::from(random.bits31() % 1000) / 1000.0;
        let bought = if chance < 1.0 / (1.0 + (-margin).exp()) { "yes" } else { "no" };
        text.push_str(&format!("u{i},{age},{city},{bought}\n"));
    }
    text
}

/// A model of people, and other people.
pub(crate) fn trained() -> Dir {
    let dir = Dir::new();
    dir.write("t.csv", people(3000, 1)).write("u.csv", people(400, 2));
    dir.run("train t.csv --label-column bought -o m.psm").ok();
    dir
}

fn numbers(lines: &str) -> Vec<f64> {
    lines.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn a_skipped_row_has_an_empty_prediction() {
    let dir = Dir::new();
    dir.write("d.svm", stream(500)).write("odd.svm", "1 1:1\nx y\n\n1 2:1\n1 1:z\n");
    dir.run("train d.svm -o m.psm").ok();
    let ran = dir.run("predict m.psm odd.svm --skip-bad 9");
    assert!(ran.stderr.contains("skipped 2 bad rows (empty predictions):\n  odd.svm:2:"));
    let lines: Vec<String> = ran.ok().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!([1, 3].map(|i| lines[i].as_str()), ["", ""]);
    let plain = dir.run_with("predict m.psm -", b"1 1:1\n1 2:1\n").ok();
    assert_eq!(plain.lines().collect::<Vec<_>>(), [&lines[0], &lines[2]]);
    // In tables, and whatever the threads and the limits.
    for threads in [1, 3] {
        let words = format!(
            "predict m.psm odd.svm --skip-bad 9 --threads {threads} --output-format csv --skip 1 --limit 2"
        );
        let table = dir.run(&words).ok();
        assert_eq!(table, format!("label,prediction\n,\n1,{}\n", lines[2]));
    }
    assert!(dir.run("predict m.psm odd.svm --skip-bad 1").fails(1).contains("odd.svm:5"));
}

#[test]
fn tables_have_identifiers_labels_and_columns_of_the_input() {
    let dir = trained();
    let plain = dir.run("predict m.psm u.csv").ok();
    let table =
        dir.run("predict m.psm u.csv --output-format csv --id uid --keep-columns c*,2").ok();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("uid,label,prediction,city,age"));
    let source = people(400, 2);
    for ((line, prediction), source) in lines.zip(plain.lines()).zip(source.lines().skip(1)) {
        let (id, rest) = source.split_once(',').unwrap();
        let (age, rest) = rest.split_once(',').unwrap();
        let (city, label) = rest.rsplit_once(',').unwrap();
        assert_eq!(line, format!("{id},{label},{prediction},{city},{age}"));
    }
    // All formats hold equal numbers; compressed too; a column name that is already ours gets a prefix.
    for file in ["p.csv", "p.tsv.gz", "p.jsonl", "p.jsonl.gz", "p.parquet", "p.arrow"] {
        dir.run(&format!("predict m.psm u.csv -o {file} --id uid --keep-columns all")).ok();
        let again = dir
            .run(&format!(
                "predict m.psm {file} --allow-unknown --output-format csv --keep-columns prediction"
            ))
            .ok();
        let kept = again.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned());
        let kept: Vec<f64> = kept.map(|x| x.parse().unwrap()).collect();
        assert_eq!(kept, numbers(&plain), "{file}");
        assert!(again.starts_with("label,prediction,input_prediction\n") || file.contains("jsonl"));
    }
    let ids = dir.run("predict m.psm u.csv --id uid --limit 2").ok();
    assert!(ids.lines().zip(plain.lines()).enumerate().all(|(i, (a, b))| a == format!("{b} u{i}")));
    assert!(dir.run("predict m.psm u.csv --keep-columns age").fails(2).contains("-o FILE.csv"));
    let error = dir.run("predict m.psm u.csv --output-format csv --keep-columns agee").fails(1);
    assert!(error.contains("did you mean \"age\""), "{error}");
    assert!(dir.run("predict m.psm u.csv --id u*").fails(2).contains("is a pattern"));
}

#[test]
fn tags_and_classes_are_columns() {
    let dir = Dir::new();
    let rows = "cat 'a|f x\ndog 'b|f y\neel |f z\n".repeat(60);
    dir.write("d.vw", rows);
    dir.run("train d.vw -a ftrl --multiclass -o m.psm").ok();
    let table = dir.run("predict m.psm d.vw --output-format jsonl --limit 3").ok();
    let rows: Vec<serde_json::Value> =
        table.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["tag"], &rows[2]["tag"]), (&"a".into(), &serde_json::Value::Null));
    assert_eq!((&rows[1]["label"], &rows[1]["prediction"]), (&"dog".into(), &"dog".into()));
    let sum: f64 = ["cat", "dog", "eel"]
        .map(|class| rows[1][format!("probability_{class}")].as_f64().unwrap())
        .iter()
        .sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let error = dir.run("predict m.psm d.vw --output-format csv --id x").fails(1);
    assert!(error.contains("d.vw is vw and has no columns"), "{error}");
}

#[test]
fn contributions_add_up_to_the_margin() {
    let dir = trained();
    let margins = numbers(&dir.run("predict m.psm u.csv --as margin").ok());
    dir.run("predict m.psm u.csv --explain 99 -o p.jsonl").ok();
    let text = String::from_utf8(dir.read("p.jsonl")).unwrap();
    let source = people(400, 2);
    for ((line, margin), source) in text.lines().zip(&margins).zip(source.lines().skip(1)) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let parts = row["explanation"].as_array().unwrap();
        let sizes: Vec<f64> =
            parts.iter().map(|part| part["contribution"].as_f64().unwrap()).collect();
        // The bias comes last.
        let (bias, of_features) = sizes.split_last().unwrap();
        assert_eq!(parts.last().unwrap()["feature"], "(bias at the means)", "{line}");
        assert!(of_features.windows(2).all(|w| w[0].abs() >= w[1].abs()));
        assert!((bias + of_features.iter().sum::<f64>() - margin).abs() < 1e-5, "{line}");
        // A number is in the unit of its column.
        let age: f64 = source.split(',').nth(1).unwrap().parse().unwrap();
        let of_age = parts.iter().find(|part| part["feature"] == "age");
        assert!(of_age.is_none_or(|part| part["value"].as_f64() == Some(age)), "{line}");
        assert!(of_age.is_some() || (age - 47.5).abs() < 3.0, "{line}");
    }
    let lines = dir.run("predict m.psm u.csv --explain 1 --limit 5").ok();
    for (line, margin) in lines.lines().zip(&margins) {
        // A feature, all others together, and the bias.
        let parts: Vec<&str> = line.split('\t').skip(1).collect();
        assert!(
            parts.len() <= 3 && parts.last().unwrap().starts_with("(bias at the means):"),
            "{line}"
        );
        let sizes = parts.iter().map(|part| part.rsplit_once(':').unwrap().1);
        let sum: f64 = sizes.map(|x| x.parse::<f64>().unwrap()).sum();
        assert!((sum - margin).abs() < 1e-5, "{line}");
    }
    let error = dir.run("predict m.psm u.csv --audit -o p.csv").fails(2);
    assert!(error.contains("--explain"), "{error}");
}

#[test]
fn data_without_the_columns_of_the_model_is_refused() {
    let dir = trained();
    dir.write("renamed.csv", "uid,Age,town,bought\nu1,30,Oslo,no\n")
        .write("more.csv", "uid,age,city,extra,bought\nu1,30,Oslo,1,no\n");
    for command in ["predict m.psm renamed.csv", "evaluate m.psm renamed.csv"] {
        let error = dir.run(command).fails(1);
        assert!(
            error.contains("lacks 2 of the 2 columns that the model was trained on"),
            "{error}"
        );
        assert!(error.contains("did you mean \"Age\"?") && error.contains("--allow-unknown"));
        let ran = dir.run(&format!("{command} --allow-unknown"));
        assert!(ran.stderr.contains("2 columns of the schema are absent"), "{}", ran.stderr);
        ran.ok();
    }
    let ran = dir.run("predict m.psm more.csv");
    assert!(ran.stderr.contains("1 column is not in the schema and was not read: extra"));
    assert_eq!(ran.ok().lines().count(), 1);
    assert_eq!(dir.run("predict m.psm more.csv --quiet").stderr, "");
}

#[test]
fn features_without_a_weight_are_refused_or_counted() {
    let dir = Dir::new();
    let learned: String =
        (0..600).map(|i| format!("{} |f a{} b{}\n", i % 2, i % 7, i % 2)).collect();
    let other: String = (0..300).map(|i| format!("1 |g c{i}\n")).collect();
    dir.write("d.vw", &learned).write("other.vw", &other);
    for names in ["", "--no-names"] {
        dir.run(&format!("train d.vw -o m.psm {names}")).ok();
        dir.run("predict m.psm d.vw").ok();
        let ran = dir.run("predict m.psm other.vw");
        assert_eq!((ran.code, ran.stdout.lines().count()), (1, 300), "{}", ran.stderr);
        assert!(ran.stderr.contains("no weight for any of the 300 features of 300 rows"));
        assert_eq!(ran.stderr.contains("such as"), names.is_empty(), "{}", ran.stderr);
        // A file is whole or not there.
        dir.run("predict m.psm other.vw -o p.txt").fails(1);
        assert!(!dir.has("p.txt"));
        dir.run("predict m.psm other.vw --allow-unknown").ok();
    }
    dir.write("mixed.vw", format!("{learned}{other}"));
    let ran = dir.run("predict m.psm mixed.vw");
    assert!(
        ran.stderr.contains("in 300 of 900 rows (33.3 %) no feature has a weight"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.code, 0);
}

/// With many weights some hashed features meet one by chance.
#[test]
fn chance_is_no_knowledge() {
    let dir = Dir::new();
    let learned: String = (0..8000).map(|i| format!("{} |f a{}\n", i % 2, i % 400)).collect();
    let other: String = (0..3000).map(|i| format!("1 |g c{i}\n")).collect();
    dir.write("d.vw", learned).write("other.vw", other);
    dir.run("train d.vw -a ftrl --l1 0 -b 16 -o m.psm").ok();
    let error = dir.run("predict m.psm other.vw").fails(1);
    assert!(error.contains("no more than by chance"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_line_in_is_a_line_out_at_once() {
    let dir = trained();
    let mut child = Command::new(env!("CARGO_BIN_EXE_parsimon"))
        .args(["predict", "m.psm", "-", "--skip-bad", "3"])
        .current_dir(dir.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"uid,age,city,bought\n").unwrap();
    // Each answer comes before the next question; a program that waits for more would hang here.
    for (row, is_bad) in [("u1,30,Oslo,no\n", false), ("u2\n", true), ("u3,40,Rome,no\n", false)] {
        stdin.write_all(row.as_bytes()).unwrap();
        stdin.flush().unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line == "\n", is_bad, "{line:?}");
    }
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = trained();
    dir.write("big.csv", people(20_000, 3));
    for format in ["text", "csv", "arrow", "parquet"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_parsimon"))
            .args(["predict", "m.psm", "big.csv", "--output-format", format])
            .current_dir(dir.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut words = String::new();
        child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
        assert_eq!((child.wait().unwrap().code(), words.as_str()), (Some(0), ""), "{format}");
    }
}

#[test]
fn base_values_and_clipped_margins_are_parts_of_the_sum() {
    let dir = Dir::new();
    let rows = |n: u32, base: &str| -> String {
        (0..n).map(|i| format!("{} 1{base} |f a:{} b{}\n", 10 + i % 7, i % 7, i % 3)).collect()
    };
    dir.write("d.vw", rows(400, "")).write("u.vw", rows(20, " 2.5") + "1 1 -1 |f a:1000\n");
    dir.run("train d.vw --loss squared --no-names -o m.psm --quiet").ok();
    let margins = dir.run("predict m.psm u.vw --as margin --quiet").ok();
    let lines = dir.run("predict m.psm u.vw --as margin --explain 1 --quiet").ok();
    assert!(lines.contains("\t(base):+2.5") && lines.contains("\t(base):-1"), "{lines}");
    assert!(lines.lines().last().unwrap().contains("\t(clipped):"), "{lines}");
    // The model has no names; those of the data are shown.
    assert!(lines.contains("\tf^a="), "{lines}");
    for (line, margin) in lines.lines().zip(margins.lines()) {
        let margin: f64 = margin.parse().unwrap();
        let sizes = line.split('\t').skip(1).map(|part| part.rsplit_once(':').unwrap().1);
        let sum: f64 = sizes.map(|x| x.parse::<f64>().unwrap()).sum();
        assert!((sum - margin).abs() < 1e-4 * margin.abs().max(1.0), "{line}");
    }
}

#[test]
fn a_weight_of_the_training_is_not_needed_to_predict() {
    let dir = Dir::new();
    let table = people(800, 4);
    let weighted: String = (table.lines().enumerate())
        .map(|(i, line)| {
            format!("{line},{}\n", if i == 0 { "count".into() } else { (1 + i % 3).to_string() })
        })
        .collect();
    dir.write("t.csv", table).write("w.csv", weighted);
    dir.run("train w.csv --label-column bought --weight-column count -o m.psm").ok();
    let predicted = dir.run("predict m.psm t.csv").ok();
    assert_eq!(predicted, dir.run("predict m.psm w.csv").ok());
    assert!(dir.run("evaluate m.psm t.csv").fails(1).contains("has no column \"count\""));
}
