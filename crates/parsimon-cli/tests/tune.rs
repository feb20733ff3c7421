//! Tuning a method in one pass, as a user would.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::{Dir, stream};
use serde_json::Value;

fn report(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.read(name)).unwrap()
}

/// Runs `tune` and then the command it recommends: both must leave the same bytes.
fn same_model(dir: &Dir, words: &str) -> Value {
    let table = dir.run(&format!("tune {words} -o tuned.psm --json t.json --html p.html")).ok();
    let tuned = report(dir, "t.json");
    let best = &tuned["recommended"]["best"];
    let command = best["command"].as_str().unwrap();
    assert!(table.contains(command), "{command}\n{table}");
    // The fixture cuts at spaces; no word here has a quote.
    dir.run(&format!("{} --json r.json", command.strip_prefix("parsimon ").unwrap())).ok();
    assert!(dir.read("tuned.psm") == dir.read("model.psm"), "{command}");
    let (alone, run) = (report(dir, "r.json"), best["run"].as_u64().unwrap() as usize);
    let run = &tuned["methods"][run];
    for field in ["progressive_loss", "nonzeros", "settings", "test", "curve"] {
        assert_eq!(alone[field], run[field], "{command}: {field}");
    }
    let page = String::from_utf8(dir.read("p.html")).unwrap();
    assert!(page.ends_with("</html>\n") && page.contains("Learning curves"), "{words}");
    assert!(!page.contains("NaN") && !page.contains("src="), "{words}");
    tuned.clone()
}

#[test]
fn the_model_is_the_one_the_command_trains() {
    let dir = Dir::new();
    dir.write("d.svm", stream(900)).write("t.svm", stream(150));
    let usual = same_model(&dir, "d.svm");
    assert_eq!(usual["methods"].as_array().unwrap().len(), 16);
    let page = String::from_utf8(dir.read("p.html")).unwrap();
    assert!(page.contains("The path of l1") && page.contains("The largest weights"));
    let sweep = "--sweep l1=0,0.1,1 --sweep alpha=0.05..1:3";
    let tested = same_model(&dir, &format!("d.svm {sweep} --test t.svm --precision f64 --no-bias"));
    assert_eq!(tested["criterion"], "test mean loss");
    assert_eq!(tested["methods"].as_array().unwrap().len(), 9);
    same_model(&dir, &format!("d.svm {sweep} --l2 1 --beta 2 --loss squared-hinge"));
    // Methods whose settings have a learner each.
    for method in ["fobos", "rda", "adagrad-rda", "truncated-gradient", "sgd", "ftprl"] {
        same_model(&dir, &format!("d.svm -a {method}"));
    }
    same_model(&dir, "d.svm -a ftrl --random 20 --seed 5");
}

#[test]
fn every_format_and_task_can_be_tuned() {
    let dir = Dir::new();
    let (mut vw, mut csv, mut classes) = (String::new(), "y,a,b,c\n".to_owned(), String::new());
    for i in 0..600 {
        let (a, b, c) = (i % 5, i % 3, ["red", "green", "blue"][i % 7 % 3]);
        let y = if a > 2 { 1 } else { -1 };
        vw.push_str(&format!("{y} |u id{a} color={c} |s pos:{b}.5\n"));
        csv.push_str(&format!("{},{a},{b},{c}\n", 2 * a as i64 - 3 * b as i64));
        classes.push_str(&format!("{} {}:1 {}:1\n", ["cat", "dog", "eel"][b], b + 1, 10 + a));
    }
    dir.write("d.vw", vw).write("d.csv", csv).write("c.svm", classes);
    same_model(&dir, "d.vw -b 18 -q us");
    // More slots than all settings together may have in arrays.
    same_model(&dir, "d.vw -b 23");
    let numbers = same_model(&dir, "d.csv --loss squared --sweep l1=0,0.1 --sweep rate=0.1..2:6");
    assert_eq!(numbers["criterion"], "progressive MSE");
    let several = same_model(&dir, "c.svm --multiclass");
    assert_eq!(several["criterion"], "progressive error rate");
    same_model(&dir, "d.csv -a nlms --sweep rate=0.1..1:4");
    same_model(&dir, "d.csv -a csgd --sweep rate=0.01..0.1:4");
    same_model(&dir, "d.csv -a multikernel-pda --sweep l1=0,0.01 --variances 1");
    let piped = dir.run_with("tune - --format svmlight --json -", stream(50).as_bytes());
    assert_eq!(piped.json()["rows"], 50);
}

#[test]
fn what_is_given_up_changes_nothing_else_and_depends_on_nothing_else() {
    let dir = Dir::new();
    dir.write("d.svm", stream(40_000));
    let words = "tune d.svm --sweep l1=0.1,1,2000,9000 --sweep rate=0.05,0.2,0.5 --json -";
    let tuned = dir.run(words).json();
    let kept = dir.run(&format!("{words} --keep-all")).json();
    let runs = |report: &Value| report["methods"].as_array().unwrap().clone();
    let (mut given_up, mut same) = (0, 0);
    for (one, other) in runs(&tuned).iter().zip(&runs(&kept)) {
        assert!(other["given_up"].is_null());
        if one["given_up"].is_null() {
            assert_eq!(one["curve"], other["curve"]);
            same += 1;
        } else {
            let rows = one["given_up"]["rows"].as_u64().unwrap();
            assert!(rows >= 1 << 14 && rows.is_power_of_two());
            given_up += 1;
        }
    }
    assert!(given_up >= 3 && same >= 6, "{given_up} given up, {same} kept");
    assert_eq!(tuned["recommended"], kept["recommended"]);
    for threads in [1, 4] {
        assert_eq!(dir.run(&format!("{words} --threads {threads}")).json(), tuned);
    }
    // Without a terminal there is a line per report, and a last word on what was given up.
    let told = dir.run("tune d.svm --sweep l1=0.1,9000");
    assert!(told.stderr.contains("best so far"), "{}", told.stderr);
    assert!(told.stderr.contains("1 far behind the best"), "{}", told.stderr);
    assert!(told.ok().contains("given up at"));
    assert!(dir.run("tune d.svm --quiet").stderr.is_empty());
}

#[test]
fn draws_follow_from_the_seed() {
    let dir = Dir::new();
    dir.write("d.svm", stream(200));
    let drawn = |words: &str| {
        let report = dir.run(&format!("tune d.svm --sweep l1=0.01..10 {words} --json -")).json();
        let runs = report["methods"].as_array().unwrap().iter();
        runs.map(|run| run["swept"]["l1"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    let twelve = drawn("--random 12");
    assert_eq!(twelve.len(), 12);
    assert!(twelve.iter().all(|l1| (0.01..=10.0).contains(l1)));
    assert_eq!(drawn("--random 12 --seed 1"), twelve);
    assert_eq!(drawn("--random 5"), twelve[..5]);
    assert_ne!(drawn("--random 12 --seed 2"), twelve);
}

#[test]
fn a_setting_that_diverges_is_a_result() {
    let dir = Dir::new();
    let large: String = (0..2000).map(|i| format!("{} 1:1000 2:{}\n", i % 7, i % 900)).collect();
    dir.write("d.svm", large);
    let words = "tune d.svm -a sgd --loss squared --schedule constant";
    let ran = dir.run(&format!("{words} --sweep rate=1e-9,0.9"));
    assert!(ran.stderr.contains("rate=0.9 failed: the weights diverged"), "{}", ran.stderr);
    assert!(ran.ok().contains("failed"));
    let error = dir.run(&format!("{words} --sweep rate=0.8,0.9")).fails(1);
    assert!(error.contains("the weights diverged"), "{error}");
}

#[test]
fn sweeps_that_cannot_be_are_refused() {
    let dir = Dir::new();
    dir.write("d.svm", stream(20));
    let usage = |words: &str| dir.run(&format!("tune d.svm {words}")).fails(2);
    let large = usage("--sweep l1=0.1..1:100 --sweep rate=0.1..1:100");
    assert!(large.contains("10,000 settings and 512 are possible"), "{large}");
    assert!(usage("--random 513").contains("513 settings and 512 are possible"));
    assert!(usage("--sweep l11=1,2").contains("did you mean \"l1\""));
    assert!(usage("-a sgd --sweep l1=1,2").contains("sgd has no setting l1"));
    assert!(usage("--sweep l1=-1..1:3").contains("l1 must be a finite number >= 0"));
    assert!(usage("--sweep l1=1..0.1").contains("a range goes upwards"));
    assert!(usage("--l1 1 --sweep l1=1,2").contains("l1 is fixed by a flag and swept"));
    assert!(usage("--alpha 1 --sweep rate=1,2").contains("rate is fixed by a flag and swept"));
    assert!(usage("--l1 1 --rate 0.1").contains("all settings of the default grid are fixed"));
    let none = usage("-a nlms");
    assert!(none.contains("nlms has no default grid") && none.contains("--sweep rate="), "{none}");
    assert!(usage("--sweep loss=logistic,hinge").contains("`parsimon compare` ranks"));
    assert!(usage("-a nothing").contains("nothing"));
    assert!(usage("--seed 3").contains("--random"));
    let error = dir.run("tune d.svm --test none.svm").fails(1);
    assert!(error.contains("none.svm"), "{error}");
    assert!(dir.run("tune d.svm -o d.svm").fails(2).contains("would be overwritten"));
    dir.write("empty.svm", "");
    dir.run("tune empty.svm --format svmlight").fails(1);
}
