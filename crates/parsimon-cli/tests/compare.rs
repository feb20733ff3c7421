//! Comparing methods over a grid, as a user would.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::{Dir, Ran, stream};
use serde_json::Value;

fn report(dir: &Dir, name: &str) -> Value {
    serde_json::from_slice(&dir.read(name)).unwrap()
}

/// Rows with numbers to learn: y = 2a - 3b, and ten columns that say nothing.
fn numbers(rows: usize) -> String {
    let mut text = String::new();
    for i in 0..rows {
        let (a, b, noise) = (i % 5, i % 3, 3 + i % 10);
        text.push_str(&format!("{} 1:{a} 2:{b} {noise}:1\n", 2 * a as i64 - 3 * b as i64));
    }
    text
}

/// The promise of the recommendation: the command trains the very same model.
#[test]
fn the_recommended_command_trains_the_same_model() {
    let dir = Dir::new();
    dir.write("d.svm", stream(400)).write("t.svm", stream(150));
    let sweep = "-m ftrl:rate=0.3 -m fobos:rate=0.5 --sweep l1=0.001..1:4 --json c.json";
    for flags in ["", "--test t.svm", "--precision f64 --no-bias"] {
        let table = dir.run(&format!("compare d.svm {sweep} {flags}")).ok();
        let compared = report(&dir, "c.json");
        for choice in ["best", "sparsest_within_1_percent"] {
            let choice = &compared["recommended"][choice];
            let command = choice["command"].as_str().unwrap();
            assert!(table.contains(command), "{command}\n{table}");
            let words = command.strip_prefix("parsimon ").unwrap();
            dir.run(&format!("{words} --json r.json")).ok();
            let (alone, run) = (report(&dir, "r.json"), choice["run"].as_u64().unwrap() as usize);
            let run = &compared["methods"][run];
            assert_eq!(alone["progressive_loss"], run["progressive_loss"], "{command}");
            assert_eq!(alone["nonzeros"], run["nonzeros"], "{command}");
            assert_eq!(alone["settings"], run["settings"], "{command}");
            assert_eq!(alone["test"], run["test"], "{command}");
        }
    }
}

#[test]
fn the_best_and_the_sparsest_are_what_they_are_called() {
    let dir = Dir::new();
    dir.write("d.svm", stream(600));
    let compared =
        dir.run("compare d.svm -a ftrl --sweep l1=0.01..20:9 --sweep rate=0.1,0.5 --json -").json();
    let methods = compared["methods"].as_array().unwrap();
    assert_eq!(methods.len(), 18);
    let cost = |m: &Value| m["cost"].as_f64().unwrap();
    let of = |name: &str| &methods[compared["recommended"][name]["run"].as_u64().unwrap() as usize];
    let (best, sparsest) = (of("best"), of("sparsest_within_1_percent"));
    let enough = 1.01 * cost(best);
    for method in methods {
        assert!(cost(method) >= cost(best));
        let is_sparser = method["nonzeros"].as_u64() < sparsest["nonzeros"].as_u64();
        assert!(!is_sparser || cost(method) > enough, "{method}");
    }
    assert!(cost(sparsest) <= enough);
}

#[test]
fn a_winner_at_the_end_of_the_sweep_is_said() {
    let dir = Dir::new();
    dir.write("d.svm", stream(600));
    let remark = "the sweep ends at this l1";
    assert!(dir.run("compare d.svm -m ftrl --sweep l1=50,100,200").ok().contains(remark));
    // Nothing is beyond no penalty at all.
    assert!(!dir.run("compare d.svm -m ftrl --sweep l1=0,100,200").ok().contains(remark));
}

#[test]
fn standard_input_is_read_once_and_a_missing_test_is_found_at_once() {
    let dir = Dir::new();
    let words = "compare - --format svmlight -m ftrl --sweep l1=0.1,1 --json - --html p.html";
    let ran = dir.run_with(words, stream(50).as_bytes());
    assert_eq!(ran.json()["rows"], 50);
    dir.write("d.svm", stream(50));
    let error = dir.run("compare d.svm --test none.svm").fails(1);
    assert!(error.contains("none.svm"), "{error}");
}

#[test]
fn threads_change_no_number() {
    let dir = Dir::new();
    dir.write("d.svm", stream(3000)).write("t.svm", stream(100));
    let numbers = |threads: usize| {
        let words = "compare d.svm --test t.svm --sweep l1=1e-4..1:3 --json -";
        let mut report = dir.run(&format!("{words} --threads {threads}")).json();
        for method in report["methods"].as_array_mut().unwrap() {
            method.as_object_mut().unwrap().remove("seconds");
        }
        report
    };
    assert_eq!(numbers(1), numbers(4));
}

#[test]
fn a_method_without_the_setting_runs_once() {
    let dir = Dir::new();
    dir.write("d.svm", stream(100));
    let ran = dir.run("compare d.svm -m sgd:rate=0.5 -m ftrl:l1=7 --sweep lambda=0,0.1,1 --json -");
    assert!(ran.stderr.contains("takes the place of l1=7"), "{}", ran.stderr);
    let report = ran.json();
    let names: Vec<&str> = report["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["method"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["sgd:rate=0.5", "ftrl:l1=0", "ftrl:l1=0.1", "ftrl:l1=1"]);
}

#[test]
fn the_page_is_whole_for_every_task() {
    let dir = Dir::new();
    dir.write("two.svm", stream(300)).write("numbers.svm", numbers(300));
    let mut classes = String::new();
    for i in 0..300 {
        classes.push_str(&format!(
            "{} {}:1 {}:1\n",
            ["cat", "dog", "eel"][i % 3],
            i % 3 + 1,
            10 + i % 7
        ));
    }
    dir.write("classes.svm", classes);
    let page = |words: &str| {
        dir.run(&format!("compare {words} --sweep l1=1e-4..0.1:3 --html p.html --plot p.svg")).ok();
        let page = String::from_utf8(dir.read("p.html")).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        // One file: nothing is loaded from anywhere.
        for outside in ["src=", "url(", "@import", "import(", "fetch", "<link rel=\"stylesheet"] {
            assert!(!page.contains(outside), "{outside}");
        }
        for part in
            ["Recommended", "parsimon train", "All runs", "Learning curves", "The path of l1"]
        {
            assert!(page.contains(part), "{words}: {part}");
        }
        assert!(!page.contains("NaN"), "{words}");
        assert!(String::from_utf8(dir.read("p.svg")).unwrap().starts_with("<svg"));
        page
    };
    assert!(page("two.svm").contains("Calibration of"));
    assert!(page("two.svm --loss hinge").contains("no probabilities"));
    assert!(page("numbers.svm --loss squared").contains("R2"));
    let classes = page("classes.svm --multiclass");
    assert!(classes.contains("error rate") && classes.contains("eel"));
}

#[test]
fn the_page_names_its_origin_and_the_best_run_first() {
    let dir = Dir::new();
    let rows = "red,1,yes\nblue,2,no\nred,3,no\n".repeat(40);
    dir.write("my clicks.csv", format!("color,size,label\n{rows}"));
    let words = ["compare", "my clicks.csv", "--html", "p.html"];
    let page = || {
        let mut command = dir.command("");
        command.args(words).env("SOURCE_DATE_EPOCH", "1700000000");
        let ran: Ran = command.output().unwrap().into();
        let table = ran.ok();
        (String::from_utf8(dir.read("p.html")).unwrap(), table)
    };
    let mut odd = dir.command("");
    let ran: Ran = odd.args(words).env("SOURCE_DATE_EPOCH", "soon").output().unwrap().into();
    assert!(ran.stderr.contains("warning: SOURCE_DATE_EPOCH is \"soon\""), "{}", ran.stderr);
    ran.ok();
    let (first, table) = page();
    for part in [
        "<code>parsimon compare 'my clicks.csv' --html p.html</code>",
        "2023-11-14 22:13 UTC",
        "<code>my clicks.csv</code> (",
        "120 rows",
        "3 columns: 1 number, 1 category, label label (no, yes)",
    ] {
        assert!(first.contains(part), "{part}\n{first}");
    }
    // Two runs of one command give equal pages except for the times.
    let without_times = |page: &str| -> Vec<String> {
        page.lines().filter(|line| !line.contains("data-value")).map(str::to_owned).collect()
    };
    assert_eq!(without_times(&first), without_times(&page().0));
    let losses: Vec<f64> = table
        .lines()
        .skip(2)
        .map_while(|line| line.split_whitespace().nth(1)?.parse().ok())
        .collect();
    assert_eq!(losses.len(), 10, "{table}");
    assert!(losses.is_sorted(), "{table}");
}

#[test]
fn a_loss_goes_to_the_methods_that_take_it() {
    let dir = Dir::new();
    dir.write("d.svm", numbers(200));
    let words = "compare d.svm --loss squared -m ftrl -m nlms -m rls --json -";
    let ran = dir.run(words);
    assert!(ran.stderr.contains("nlms uses the loss projection instead"), "{}", ran.stderr);
    let report = ran.json();
    assert_eq!(report["methods"][0]["settings"]["loss"], "squared");
    assert_eq!(report["methods"][1]["settings"]["loss"], "projection");
    // Different losses are not compared with each other.
    let huber = "compare d.svm --loss huber --huber-delta 2 -m ftrl -m nlms --json -";
    assert_eq!(dir.run(huber).json()["criterion"], "progressive RMSE");
    let error = dir.run("compare d.svm --loss hinge -m nlms").fails(2);
    assert!(error.contains("no method takes the loss hinge"), "{error}");
}

#[test]
fn a_run_that_diverges_is_a_result() {
    let dir = Dir::new();
    let large: String =
        (0..2000).map(|i| format!("{} 1:1000 2:{}\n", i % 900 / 100, i % 900)).collect();
    dir.write("d.svm", large);
    let words = "compare d.svm -m sgd:loss=squared,schedule=constant --sweep rate=1e-7,0.9 --html p.html --json c.json";
    let ran = dir.run(words);
    assert!(ran.stderr.contains("rate=0.9 failed: the weights diverged"), "{}", ran.stderr);
    assert!(ran.ok().contains("failed"));
    let compared = report(&dir, "c.json");
    assert_eq!(compared["recommended"]["best"]["run"], 0);
    assert!(compared["methods"][1]["failure"].is_string());
    assert!(
        String::from_utf8(dir.read("p.html")).unwrap().contains("failed: the weights diverged")
    );
    let error = dir.run("compare d.svm -m sgd:loss=squared,schedule=constant,rate=0.9").fails(1);
    assert!(error.contains("the weights diverged"), "{error}");
}

#[test]
fn sweeps_that_cannot_be_are_refused() {
    let dir = Dir::new();
    dir.write("d.svm", stream(20));
    let usage = |words: &str| dir.run(&format!("compare d.svm {words}")).fails(2);
    let large = usage("-m ftrl --sweep l1=0.1..1:100 --sweep rate=0.1..1:100");
    assert!(large.contains("10,000 runs and 512 are possible"), "{large}");
    assert!(usage("--sweep l11=1,2").contains("did you mean \"l1\""));
    assert!(usage("-m sgd --sweep l1=1,2").contains("sgd has no setting l1"));
    let none = usage("-m sgd -m asgd --sweep l1=1,2");
    assert!(none.contains("none of the methods has a setting l1"), "{none}");
    assert!(usage("-m ftrl --sweep l1=-1..1:3").contains("ftrl: l1 must be a finite number >= 0"));
    assert!(
        usage("-m ftrl:l1=1 -m nlms:loss=projection")
            .contains("same kind of labels: ftrl:l1=1 has logistic")
    );
}

/// Columns of different size, and a label that is one of three texts or a number.
fn raw_table(label: impl Fn(f64, f64) -> String) -> String {
    let mut random = parsimon_testing::SplitMix64::new(5);
    let mut text = String::from("income,age,target\n");
    for _ in 0..800 {
        let (income, age) = (1e5 * random.unit(), 80.0 * random.unit());
        text += &format!("{income:.0},{age:.0},{}\n", label(income / 1e5, age / 80.0));
    }
    text
}

#[test]
fn the_task_is_guessed_and_tables_are_normalized() {
    let dir = Dir::new();
    dir.write("numbers.csv", raw_table(|a, b| format!("{:.3}", 3.0 * a - b)));
    let plan = |a: f64, b: f64| {
        if a > 0.6 {
            "gold"
        } else if b > 0.5 {
            "silver"
        } else {
            "basic"
        }
    };
    dir.write("classes.csv", raw_table(|a, b| plan(a, b).into()));
    for (file, guess, flag) in [
        ("numbers.csv", "labels: numbers, so --loss squared", "--loss squared"),
        ("classes.csv", "labels: 3 classes (basic, gold, silver), so --multiclass", "--multiclass"),
    ] {
        for command in ["compare", "tune"] {
            let ran = dir.run(&format!("{command} {file} --label-column target"));
            assert!(ran.stderr.contains(guess), "{command} {file}: {}", ran.stderr);
            assert!(ran.ok().contains(flag), "{command} {file}");
        }
    }
    // Every method is better than the constant, which would not be so on raw columns.
    let table = dir.run("compare numbers.csv --label-column target").ok();
    let place = |name: &str| table.lines().position(|line| line.starts_with(name)).unwrap();
    assert_eq!(place("constant"), 11, "{table}");
    assert!(table.contains("sgd:rate=0.5,normalize=true"), "{table}");
    // What is named stays as it is named.
    let table = dir.run("compare numbers.csv --label-column target -m ftrl -m adagrad-rda").ok();
    assert!(table.contains("\nftrl ") && !table.contains("normalize"), "{table}");
}
