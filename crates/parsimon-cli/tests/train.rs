//! Training, saving, resuming and predicting, as a user would.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::{Dir, stream};
use serde_json::Value;

#[test]
fn the_exact_forms() {
    let dir = Dir::new();
    dir.write("d.svm", stream(500));
    dir.write("s.json", r#"{"algorithm": "rda", "loss": "logistic", "rate": 0.33, "l1": 0.05}"#);
    dir.run("train d.svm --spec s.json --precision f64 --no-bias --no-hash -o m.psm").ok();
    let weights = dir.run("inspect m.psm --weights json").json();
    assert_eq!(weights["bias"], 0.0);
    let weights = weights["weights"].as_object().unwrap();
    assert!(weights["1"].as_f64().unwrap() > 0.0 && weights["2"].as_f64().unwrap() < 0.0);
    assert!(weights.values().all(|w| w.as_f64() != Some(0.0)), "zeros are not stored");
    let predictions = dir.run("predict m.psm d.svm").ok();
    assert_eq!(predictions.lines().count(), 500);
    assert!(predictions.lines().all(|p| (0.0..=1.0).contains(&p.parse::<f64>().unwrap())));
    let evaluation = dir.run("evaluate m.psm d.svm --json -").json();
    assert!(evaluation["auc"].as_f64().unwrap() > 0.6, "{evaluation}");
    let algorithms = dir.run("algorithms --json").json();
    let names: Vec<_> =
        algorithms.as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"ftrl") && names.contains(&"lazy-sparse"));
}

/// Every weight of the program equals the independent dense twin's.
#[test]
fn the_program_equals_the_twin() {
    let dir = Dir::new();
    dir.write("d.svm", "1 1:1 3:0.5\n-1 2:2\n1 1:-1 2:0.25 3:1\n-1 3:1\n1 1:0.1\n");
    dir.write("s.json", r#"{"algorithm": "ftrl", "loss": "logistic", "rate": 0.5, "beta": 1, "l1": 0.1, "l2": 0.2}"#);
    dir.run("train d.svm --spec s.json --precision f64 --no-bias --no-hash -o m.psm").ok();
    let ours = dir.run("inspect m.psm --weights json").json();
    // z and n by hand, row by row, with alpha .5, beta 1, lambda_1 .1, lambda_2 .2.
    let rows: [(f64, &[(usize, f64)]); 5] = [
        (1.0, &[(1, 1.0), (3, 0.5)]),
        (-1.0, &[(2, 2.0)]),
        (1.0, &[(1, -1.0), (2, 0.25), (3, 1.0)]),
        (-1.0, &[(3, 1.0)]),
        (1.0, &[(1, 0.1)]),
    ];
    let (mut z, mut n) = ([0.0f64; 4], [0.0f64; 4]);
    let weight = |z: f64, n: f64| match z.abs() <= 0.1 {
        true => 0.0,
        false => -(z - 0.1 * z.signum()) / ((1.0 + n.sqrt()) / 0.5 + 0.2),
    };
    for (y, x) in rows {
        let p: f64 = x.iter().map(|&(j, v)| v * weight(z[j], n[j])).sum();
        let d = -y / (1.0 + (y * p).exp());
        for &(j, v) in x {
            let (w, g) = (weight(z[j], n[j]), d * v);
            z[j] += g - ((n[j] + g * g).sqrt() - n[j].sqrt()) / 0.5 * w;
            n[j] += g * g;
        }
    }
    for j in 1..4 {
        let ours = ours["weights"][j.to_string()].as_f64().unwrap_or(0.0);
        assert!((ours - weight(z[j], n[j])).abs() < 1e-14, "{j}: {ours}");
    }
}

#[test]
fn the_schema_of_a_spec_has_every_setting_with_its_range() {
    let dir = Dir::new();
    let one = dir.run("algorithms ftrl --schema").json();
    let rate = &one["properties"]["rate"];
    assert_eq!((&rate["exclusiveMinimum"], &rate["default"]), (&0.into(), &0.1.into()));
    assert_eq!(one["properties"]["penalty"]["enum"][1], "nonnegative");
    assert_eq!(one["additionalProperties"], false);
    let listed = dir.run("algorithms --json").json();
    let all = dir.run("algorithms --schema").json();
    let kinds = all["oneOf"].as_array().unwrap();
    assert_eq!(kinds.len(), listed.as_array().unwrap().len());
    for (kind, algorithm) in kinds.iter().zip(listed.as_array().unwrap()) {
        let settings = kind["properties"].as_object().unwrap().len() - 1;
        assert_eq!(settings, algorithm["parameters"].as_array().unwrap().len());
        assert_eq!(kind["properties"]["algorithm"]["const"], algorithm["name"]);
    }
}

#[test]
fn weights_may_be_bounded_and_the_bias_is_not() {
    let dir = Dir::new();
    // Feature 1 goes with 1, feature 2 with -1, which is the usual label.
    dir.write("d.svm", "1 1:1 3:1\n-1 2:1 3:1\n-1 2:1\n".repeat(100));
    let weights = |words: &str| {
        dir.run(&format!("train d.svm {words} -o m.psm --quiet")).ok();
        let model = dir.run("inspect m.psm --weights json").json();
        let weight = |j: &str| model["weights"][j].as_f64().unwrap_or(0.0);
        let bias = model["bias"].as_f64().unwrap();
        (weight("1"), weight("2"), bias)
    };
    for algorithm in ["ftrl", "rda", "fobos", "adagrad-rda", "adagrad-fobos"] {
        let (one, two, _) = weights(&format!("-a {algorithm}"));
        assert!(one > 0.1 && two < -0.1, "{algorithm}: {one} {two}");
        let (one, two, bias) = weights(&format!("-a {algorithm} --penalty nonnegative"));
        assert!(one > 0.1 && two == 0.0 && bias < 0.0, "{algorithm}: {one} {two} {bias}");
        let box_flags = "--penalty box --lower -0.05 --upper 0.02 --precision f64";
        let (one, two, bias) = weights(&format!("-a {algorithm} {box_flags}"));
        assert!((one, two) == (0.02, -0.05), "{algorithm}: {one} {two}");
        assert!(bias < -0.05, "{algorithm}: {bias}");
    }
}

/// A spec file, the flags and a method of `compare` know the same names of settings.
#[test]
fn the_papers_names_are_known_everywhere() {
    let dir = Dir::new();
    dir.write("d.svm", stream(200));
    dir.write("s.toml", "algorithm = \"ftrl\"\nalpha = 0.5\nlambda = 0.1\nlambda2 = 0.2\n");
    let train = |words: &str| {
        dir.run(&format!("train d.svm {words} -o m.psm --quiet")).ok();
        dir.read("m.psm")
    };
    let ours = train("-a ftrl --rate 0.5 --l1 0.1 --l2 0.2");
    assert_eq!(train("--spec s.toml"), ours);
    assert_eq!(train("-a ftrl --gamma 2 --lambda1 0.1 --lambda2 0.2"), ours);
    // Flags overwrite the file, whichever name either has.
    assert_eq!(train("--spec s.toml --eta 0.3"), train("-a ftrl --alpha 0.3 --l1 0.1 --l2 0.2"));
    // Without a method alpha may be the step of one paper or the penalty of another program.
    assert!(dir.run("train d.svm --alpha 0.3").fails(2).contains("set the step with --rate"));
    let compared = dir.run("compare d.svm -m ftrl:lambda=0.1,eta=0.5 --json - --quiet").json();
    let settings = &compared["methods"][0]["settings"];
    assert_eq!((&settings["l1"], &settings["rate"]), (&0.1.into(), &0.5.into()));
}

#[test]
fn the_doubling_table_is_on_standard_error() {
    let dir = Dir::new();
    dir.write("d.svm", stream(100));
    let ran = dir.run("train d.svm -o m.psm");
    assert!(ran.stdout.is_empty());
    let rows: Vec<&str> = ran
        .stderr
        .lines()
        .skip_while(|line| !line.contains("since last"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().nth(3).unwrap())
        .collect();
    assert_eq!(rows, ["1", "2", "4", "8", "16", "32", "64", "100"], "{}", ran.stderr);
    assert!(dir.run("train d.svm -o m.psm --quiet").stderr.is_empty());
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let dir = Dir::new();
    let text = stream(400);
    let cut = text.match_indices('\n').nth(149).unwrap().0 + 1;
    dir.write("all.svm", &text).write("a.svm", &text[..cut]).write("b.svm", &text[cut..]);
    for algorithm in [
        "ftrl --l1 0.5",
        "fobos --l1 0.01 --l2 0.1",
        "asgd",
        "adam",
        "ftprl --metric sqrt --l1 0.001",
    ] {
        dir.run(&format!("train all.svm -a {algorithm} -o whole.psm --json whole.json")).ok();
        dir.run(&format!("train a.svm -a {algorithm} --checkpoint c.ckpt")).ok();
        // The checkpoint carries every setting: none is repeated.
        dir.run("train b.svm --resume c.ckpt -o parts.psm --json parts.json").ok();
        let weights = |m: &str| dir.run(&format!("inspect {m} --weights json")).ok();
        assert_eq!(weights("whole.psm"), weights("parts.psm"), "{algorithm}");
        let report = |name: &str| serde_json::from_slice::<Value>(&dir.read(name)).unwrap();
        assert_eq!(
            report("whole.json")["progressive_loss"],
            report("parts.json")["progressive_loss"]
        );
        assert_eq!(report("whole.json")["curve"], report("parts.json")["curve"], "{algorithm}");
    }
    let error = dir.run("train b.svm --resume c.ckpt --l1 3").fails(2);
    assert!(error.contains("--l1 3 contradicts the checkpoint c.ckpt"), "{error}");
}

#[test]
fn every_front_end_gives_the_same_bits() {
    let dir = Dir::new();
    let text = stream(300);
    dir.write("d.svm", &text);
    let as_vw = text.replacen(' ', " | ", 0);
    let vw: String = as_vw.lines().map(|l| format!("{}\n", l.replacen(' ', " | ", 1))).collect();
    dir.write("d.vw", vw);
    dir.run("convert d.svm -o d.psc").ok();
    let model = |words: &str| {
        dir.run(&format!("train {words} -a fobos --l1 0.01 -o m.psm --quiet")).ok();
        dir.run("inspect m.psm --weights json").ok()
    };
    let expected = model("d.svm --threads 1");
    assert_eq!(model("d.svm --threads 3"), expected);
    assert_eq!(model("d.svm --store index"), expected);
    assert_eq!(model("d.psc"), expected);
    assert_eq!(model("d.vw --no-hash"), expected);
    dir.run_with("train - --format svmlight -a fobos --l1 0.01 -o m.psm", text.as_bytes()).ok();
    assert_eq!(dir.run("inspect m.psm --weights json").ok(), expected);
}

#[test]
fn several_classes_by_any_text() {
    let dir = Dir::new();
    let mut text = String::new();
    for i in 0..300 {
        let class = ["cat", "dog", "eel"][i % 3];
        text.push_str(&format!("{class} {}:1 {}:1\n", i % 3 + 1, 10 + i % 7));
    }
    dir.write("d.svm", text);
    dir.run("train d.svm --multiclass -o m.psm --json r.json").ok();
    let predictions = dir.run("predict m.psm d.svm").ok();
    let right = predictions.lines().enumerate().filter(|(i, p)| *p == ["cat", "dog", "eel"][i % 3]);
    assert!(right.count() > 280, "{predictions}");
    let weights = dir.run("inspect m.psm --weights json").json();
    assert!(weights["dog"]["weights"]["2"].as_f64().unwrap() > 0.0);
    let evaluation = dir.run("evaluate m.psm d.svm --json -").json();
    assert!(evaluation["accuracy"].as_f64().unwrap() > 0.9);
    let probabilities = dir.run("predict m.psm d.svm --as probability").ok();
    let first: f64 =
        probabilities.lines().next().unwrap().split(' ').map(|p| p.parse::<f64>().unwrap()).sum();
    assert!((first - 1.0).abs() < 1e-12);
}

#[test]
fn two_texts_are_found_by_a_look() {
    let dir = Dir::new();
    let text: String =
        (0..60).map(|i| format!("{} {}:1\n", ["ham", "spam"][i % 2], i % 2 + 1)).collect();
    dir.write("d.svm", text);
    dir.run("train d.svm -o m.psm --rate 1").ok();
    assert_eq!(
        dir.run("predict m.psm d.svm --as class").ok().lines().take(2).collect::<Vec<_>>(),
        ["ham", "spam"]
    );
    let many: String = (0..60).map(|i| format!("{} 1:1\n", i % 5)).collect();
    dir.write("many.svm", many);
    let error = dir.run("train many.svm --loss logistic").fails(2);
    assert!(error.contains("pass --multiclass"), "{error}");
}

#[test]
fn holdout_passes_and_early_stopping() {
    let dir = Dir::new();
    dir.write("d.svm", stream(600));
    let report = |words: &str| {
        dir.run(&format!("train d.svm {words} --json r.json --quiet -o m.psm")).ok();
        serde_json::from_slice::<Value>(&dir.read("r.json")).unwrap()
    };
    let once = report("--holdout 0.1");
    assert_eq!(once["passes"][0]["holdout"]["rows"], 60);
    assert_eq!(once["rows"], 540);
    assert_eq!(report("--passes 3 --shuffle --seed 5")["rows"], 1800);
    let stopped =
        report("-a sgd --rate 50 --schedule constant --passes 50 --holdout --early-stop 2");
    assert!(stopped["passes"].as_array().unwrap().len() < 50);
    assert_eq!(report("--limit 100 --skip 50")["rows"], 100);
    assert_eq!(report("--test d.svm")["test"]["rows"], 600);
}

#[test]
fn every_share_is_held_out_as_it_is() {
    let dir = Dir::new();
    dir.write("d.svm", stream(600));
    for (share, held) in [("0.1", 60), ("0.3", 180), ("0.4", 240), ("0.45", 270), ("0.5", 300)] {
        dir.run(&format!("train d.svm --holdout {share} --json r.json --quiet")).ok();
        let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        assert_eq!(report["passes"][0]["holdout"]["rows"], held, "{share}");
        assert_eq!(report["rows"], 600 - held, "{share}");
    }
    for share in ["0", "0.6", "-0.1"] {
        let error = dir.run(&format!("train d.svm --holdout={share}")).fails(2);
        assert!(error.contains("the holdout must be a share > 0 and <= 0.5"), "{error}");
    }
}

#[test]
fn the_last_line_of_several_passes_is_of_rows_that_were_new() {
    let dir = Dir::new();
    dir.write("d.svm", stream(600));
    let report = |flags: &str| {
        let told = dir.run(&format!("train d.svm -a ftrl {flags} --json r.json")).stderr;
        (told, serde_json::from_slice::<Value>(&dir.read("r.json")).unwrap())
    };
    let (_, once) = report("");
    let loss = once["progressive_loss"].as_f64().unwrap();
    assert_eq!(once["estimate"]["of"], "progressive");
    let (told, twice) = report("--passes 3");
    assert!(told.contains(&format!("progressive loss of the first pass {loss:.6}")), "{told}");
    assert_eq!(twice["estimate"]["loss"].as_f64(), Some(loss));
    assert!(twice["progressive_loss"].as_f64().unwrap() < loss);
    let (told, held) = report("--passes 3 --holdout 0.3");
    let loss = &held["passes"][2]["holdout"]["mean_loss"];
    assert_eq!((&held["estimate"]["loss"], &held["estimate"]["of"]), (loss, &"holdout".into()));
    assert!(told.contains("holdout loss 0.") && told.contains(" after pass 3"), "{told}");
}

#[test]
fn labels_that_are_not_found_are_explained() {
    let dir = Dir::new();
    let rows: String =
        (0..300).map(|i| format!("{{\"bought\":{},\"age\":{}}}\n", i % 2, i % 7)).collect();
    dir.write("d.jsonl", &rows);
    let expected =
        "has no column that is surely the label; name it with --label-column NAME. The columns are";
    for ran in [dir.run("train d.jsonl"), dir.run_with("train - --format json", rows.as_bytes())] {
        let error = ran.fails(1);
        assert!(error.contains(expected) && error.contains("bought"), "{error}");
    }
    dir.run("train d.jsonl --label-column bought -o m.psm --quiet").ok();
    dir.run("predict m.psm d.jsonl").ok();
    dir.run("convert d.jsonl --label-column bought -o d.psc").ok();
    let error = dir.run_with("train - --format svmlight", b"1 1:1\n2 2:1\n1 1:2\n").fails(1);
    for word in ["stdin:2:1: label \"2\"", "--classes A,B", "--loss squared"] {
        assert!(error.contains(word), "{error}");
    }
    let rows = b"1 1:1\n2 2:1\n1 1:2\n";
    dir.run_with("train - --format svmlight --classes 1,2 --quiet", rows).ok();
}

#[test]
fn audit_adds_up_to_the_margin() {
    let dir = Dir::new();
    dir.write("d.vw", "1 |a x:2 y |b z\n-1 |a y |b q:0.5\n1 |a x |b z:3\n");
    dir.run("train d.vw -o m.psm --l1 0 --precision f64").ok();
    let margin: f64 =
        dir.run("predict m.psm d.vw --as margin").ok().lines().next().unwrap().parse().unwrap();
    let audit = dir.run("predict m.psm d.vw --as margin --audit").ok();
    let parts: Vec<&str> = audit.lines().skip(1).take_while(|l| l.starts_with('\t')).collect();
    let sum: f64 =
        parts.iter().map(|l| l.rsplit('\t').next().unwrap().parse::<f64>().unwrap()).sum();
    assert!((sum - margin).abs() < 1e-12, "{audit}");
    assert!(parts.iter().any(|l| l.contains("a^x")), "{audit}");
}

#[test]
fn regret_stays_below_the_bound() {
    let dir = Dir::new();
    dir.write("d.svm", stream(400));
    dir.run("train d.svm -a rda --rate 1 --l1 0.01 --regret --json r.json --quiet").ok();
    let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    let (regret, bound) = (&report["regret"]["regret"], &report["regret"]["bound"]["value"]);
    let (regret, bound) = (regret.as_f64().unwrap(), bound.as_f64().unwrap());
    assert!(0.0 < regret && regret < bound, "{regret} {bound}");
}

#[test]
fn quickstart_finds_most_of_the_truth() {
    let dir = Dir::new();
    let out = dir.run("quickstart --rows 20000").ok();
    assert!(out.contains("that matter"), "{out}");
    for name in ["clicks.svm", "holdout.svm", "clicks.psm", "learning-curve.svg"] {
        assert!(dir.has(&format!("quickstart/{name}")), "{name}");
    }
}

#[test]
fn compare_shows_methods_side_by_side() {
    let dir = Dir::new();
    dir.write("d.svm", stream(300));
    let table = dir.run("compare d.svm -m ftrl:l1=0.5 -m rda:l1=0.01,rate=1 --plot f.svg").ok();
    assert!(table.contains("ftrl:l1=0.5") && table.contains("AUC"), "{table}");
    assert!(String::from_utf8(dir.read("f.svg")).unwrap().starts_with("<svg"));
    // A contestant is the method trained alone.
    let report = dir.run("compare d.svm -m ftrl:l1=0.5 --json -").json();
    dir.run("train d.svm -a ftrl --l1 0.5 --json r.json --quiet").ok();
    let alone: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert_eq!(report["methods"][0]["progressive"]["mean_loss"], alone["progressive_loss"]);
}

#[test]
fn a_checkpoint_in_the_middle_goes_on_with_names() {
    let dir = Dir::new();
    let text: String =
        stream(3000).lines().map(|l| format!("{}\n", l.replacen(' ', " |f w", 1))).collect();
    dir.write("d.vw", &text);
    dir.run("train d.vw -o whole.psm --quiet").ok();
    // Stopped by a bad row after the checkpoint was written.
    let cut = text.match_indices('\n').nth(2999).unwrap().0 + 1;
    dir.write("torn.vw", format!("{}1 |f w:nan\n", &text[..cut]));
    dir.run("train torn.vw --checkpoint c.ckpt --checkpoint-every 1000 --threads 1 --quiet")
        .fails(1);
    dir.run("train d.vw --resume c.ckpt --limit 1 --skip 2999 -o more.psm --quiet").ok();
    let weights = dir.run("inspect more.psm --weights json").ok();
    assert!(weights.contains("f^") && !weights.contains('#'), "{weights}");
}

#[test]
fn a_table_without_its_label_is_predicted_like_one_with_it() {
    let dir = Dir::new();
    let rows: Vec<(&str, &str, &str)> =
        (0..60).map(|i| if i % 2 == 0 { ("1", "red", "3") } else { ("0", "blue", "5") }).collect();
    // The first column is the label, by a flag for one file and by its name in the other.
    for label in ["bought", "click"] {
        let full: String = rows.iter().map(|(y, c, n)| format!("{y},{c},{n}\n")).collect();
        let bare: String = rows.iter().map(|(_, c, n)| format!("{c},{n}\n")).collect();
        dir.write("full.csv", format!("{label},color,size\n{full}"));
        dir.write("bare.csv", format!("color,size\n{bare}"));
        let flag = if label == "click" { "" } else { "--label-column 1" };
        dir.run(&format!("train full.csv {flag} --l1 0.1 -o m.psm --quiet")).ok();
        let predictions = dir.run("predict m.psm full.csv").ok();
        assert_eq!(dir.run("predict m.psm bare.csv").ok(), predictions, "{label}");
        let likely: f64 = predictions.lines().next().unwrap().parse().unwrap();
        assert!(likely > 0.5, "{predictions}");
        // Labels come back as they were written.
        let classes = dir.run("predict m.psm bare.csv --as class").ok();
        assert_eq!(classes.lines().take(2).collect::<Vec<_>>(), ["1", "0"]);
    }
}

#[test]
fn holdout_rows_are_judged_after_the_rows_shuffled_with_them() {
    let dir = Dir::new();
    dir.write("d.svm", stream(2000));
    let loss = |words: &str| {
        dir.run(&format!("train d.svm --holdout {words} --json r.json --quiet")).ok();
        let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
        report["passes"][0]["holdout"]["mean_loss"].as_f64().unwrap()
    };
    // A window of the whole data: judged by what was learned from it, not by the origin's ln 2.
    assert!(loss("--shuffle") < loss("") + 0.01);
}

#[test]
fn a_failing_test_file_does_not_cost_the_model() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50)).write("bad.svm", "1 1:nan\n");
    dir.run("train d.svm --test bad.svm -o m.psm --quiet").fails(1);
    dir.run("predict m.psm d.svm").ok();
}

#[test]
fn progressive_predictions_may_be_a_table() {
    let dir = Dir::new();
    dir.write("d.svm", stream(300));
    dir.run("train d.svm -a ftrl --quiet --predictions p.txt").ok();
    let lines = String::from_utf8(dir.read("p.txt")).unwrap();
    dir.run("train d.svm -a ftrl --quiet --predictions p.csv").ok();
    let table = String::from_utf8(dir.read("p.csv")).unwrap();
    assert_eq!(table, format!("prediction\n{lines}"));
    dir.run("train d.svm -a ftrl --quiet --predictions p.parquet").ok();
    assert!(dir.read("p.parquet").starts_with(b"PAR1"));
    dir.write("c.svm", "cat 1:1\ndog 2:1\neel 3:1\n".repeat(50));
    dir.run("train c.svm -a ftrl --multiclass --quiet --predictions p.jsonl").ok();
    let table = String::from_utf8(dir.read("p.jsonl")).unwrap();
    let last: serde_json::Value = serde_json::from_str(table.lines().last().unwrap()).unwrap();
    assert_eq!((table.lines().count(), &last["prediction"]), (150, &"eel".into()));
    let sum: f64 = ["cat", "dog", "eel"]
        .map(|c| last[format!("probability_{c}")].as_f64().unwrap())
        .iter()
        .sum();
    assert!((sum - 1.0).abs() < 1e-12, "{last}");
}
