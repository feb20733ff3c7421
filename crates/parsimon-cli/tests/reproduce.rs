//! `reproduce`, as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::Dir;
use serde_json::Value;

#[test]
fn experiments_are_listed_run_and_reported() {
    let dir = Dir::new();
    let list = dir.run("reproduce --list").ok();
    for id in ["csgd/low-dimension", "pda-thesis/identification", "slides/equivalences"] {
        assert!(list.contains(id), "{list}");
    }
    // Claims are whole.
    let words: Vec<&str> = list.split_whitespace().collect();
    assert!(words.join(" ").contains("PDA without a penalty is NLMS."), "{list}");
    let table = dir.run("reproduce slides/equivalences csgd/mnist --quick --out r").ok();
    // A quick run gives no verdicts.
    assert!(table.contains("preview") && table.contains("not run"), "{table}");
    assert!(!table.contains("reproduces") && table.contains("1 theorem: 1 preview"), "{table}");
    let results: Value = serde_json::from_slice(&dir.read("r/results.json")).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 2);
    let page = String::from_utf8(dir.read("r/index.html")).unwrap();
    assert!(page.contains("Equivalence theorems") && page.contains("parsimon data get mnist"));
    // What is finished is kept: the same numbers, from the folder.
    dir.run("reproduce slides/equivalences csgd/mnist --quick --out r --threads 1").ok();
    let again: Value = serde_json::from_slice(&dir.read("r/results.json")).unwrap();
    assert_eq!(without_how(results), without_how(again));
}

/// The results, but for when and how they came about.
fn without_how(mut results: Value) -> Value {
    for outcome in results.as_array_mut().unwrap() {
        outcome.as_object_mut().unwrap().remove("how").unwrap();
    }
    results
}

#[test]
fn the_page_keeps_what_other_runs_have_left() {
    let dir = Dir::new();
    dir.write("mine.toml", OWN);
    dir.run("reproduce mine.toml --trials 1 --out r").ok();
    let second = dir.run("reproduce lazy-thesis/put-together --quick --out r");
    assert!(second.stderr.contains("the page keeps 1 experiment"), "{}", second.stderr);
    // What is printed is about this run; the page has both.
    assert!(!second.stdout.contains("own/mine"), "{}", second.stdout);
    let page = String::from_utf8(dir.read("r/index.html")).unwrap();
    assert!(page.contains("id=\"own-mine\"") && page.contains("id=\"lazy-thesis-put-together\""));
    let results: Value = serde_json::from_slice(&dir.read("r/results.json")).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 2);
    // Run again, it is replaced, not doubled.
    dir.run("reproduce lazy-thesis/put-together --quick --out r").ok();
    let results: Value = serde_json::from_slice(&dir.read("r/results.json")).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 2);
    // An outcome of an experiment as it was before says nothing about it as it is.
    let path = "r/outcomes/lazy-thesis-put-together.json";
    let kept = String::from_utf8(dir.read(path)).unwrap();
    dir.write(path, kept.replace("rate = 0.05", "rate = 0.06"));
    let third = dir.run("reproduce mine.toml --trials 1 --out r");
    assert!(third.stderr.contains("lazy-thesis/put-together: the experiment has changed"));
    let page = String::from_utf8(dir.read("r/index.html")).unwrap();
    assert!(!page.contains("id=\"lazy-thesis-put-together\""));
}

#[test]
fn what_is_not_there_is_said() {
    let dir = Dir::new();
    let refused = dir.run("reproduce slide").fails(2);
    assert!(refused.contains("did you mean \"slides\"?"), "{refused}");
    dir.write("taken", "");
    let refused = dir.run("reproduce slides/equivalences --quick --out taken").fails(1);
    assert!(refused.contains("taken"), "{refused}");
    dir.run("reproduce slides/equivalences --quick --threads 0").fails(2);
    assert!(dir.run("reproduce --quick --full").fails(2).contains("cannot be used with"));
}

/// A system small enough for a test, in a file of the user's.
const OWN: &str = r#"
title = "Mine"
printed = "-"
claim = "PDA finds zeros: many of them."
kind = "identification"
axes = { mismatch = "mismatch, dB", zeros = "zeros, %" }
trials = { quick = 40, standard = 40, full = 40 }
settings = { n = 200, zeros = 0.9, samples = { quick = 20000, standard = 20000, full = 20000 } }
method = [{ name = "PDA", spec = { algorithm = "pda", rate = 0.13, alpha = 0.8, l1 = 3 } }]
expect = [{ says = "zeros", left = "PDA.zeros@end", is = "above", bound = 50.0 }]
"#;

#[test]
fn an_experiment_of_ones_own_is_a_file() {
    let dir = Dir::new();
    dir.write("mine.toml", OWN);
    let table = dir.run("reproduce mine.toml --trials 1 --out r").ok();
    assert!(table.contains("own/mine") && table.contains("1 preview"), "{table}");
    // With the file's number of trials there is a verdict.
    let table = dir.run("reproduce mine.toml --out verdict").ok();
    assert!(table.contains("1 comparison of ours: 1 reproduces"), "{table}");
    // What is wrong with a file is said, with its place, and nothing is run.
    for (from, to, why) in [
        ("title =", "titel =", "unknown field"),
        ("PDA.zeros@end", "RDA.zeros@end", "not every variant has a method"),
        ("printed = \"-\"", "printed", "own/mine"),
    ] {
        dir.write("mine.toml", OWN.replace(from, to));
        let refused = dir.run("reproduce mine.toml --out r").fails(1);
        assert!(refused.contains("mine.toml") && refused.contains(why), "{refused}");
    }
    // So is what the loop or a method does not know.
    for (from, to, line) in [
        ("\"pda\"", "\"padding\"", 9),
        ("n = 200", "n = -1", 8),
        ("n = 200", "n = 200, m = 3", 8),
        ("0.13", "\"fast\"", 9),
    ] {
        dir.write("mine.toml", OWN.replace(from, to));
        let refused = dir.run("reproduce mine.toml --trials 1 --out r").fails(1);
        assert!(refused.contains(&format!("own/mine: line {line}: ")), "{to}: {refused}");
    }
    // A measure that nothing measures is known when a trial has run.
    let other = OWN
        .replace("PDA.zeros@end", "PDA.errors@end")
        .replace("axes = {", "axes = { errors = \"e\",");
    dir.write("mine.toml", other);
    let refused = dir.run("reproduce mine.toml --trials 1 --out r").fails(1);
    assert!(refused.contains("line 10: \"zeros\": nothing measures \"errors\""), "{refused}");
    assert!(dir.run("reproduce none.toml").fails(1).contains("none.toml"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let dir = Dir::new();
    dir.write("mine.toml", OWN);
    let words = ["reproduce", "mine.toml", "--out", "r", "--threads", "1"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_parsimon"));
    let mut child = crate::interrupts::hears_interrupts(&mut command)
        .args(words)
        .current_dir(dir.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let kept = || {
        let files = std::fs::read_dir(dir.path("r/trials")).into_iter().flatten().flatten();
        files.filter(|f| f.path().extension().is_some_and(|e| e == "json")).count()
    };
    let start = Instant::now();
    while kept() < 2 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success() && !child.wait().unwrap().success());
    let before = kept();
    assert!((2..40).contains(&before), "{before} trials of 40");
    assert!(!dir.has("r/index.html"), "it was not done");

    let again = dir.run("reproduce mine.toml --out r");
    assert!(again.stderr.contains(&format!("{before} of them kept")), "{}", again.stderr);
    let resumed = dir.read("r/results.json");
    dir.run("reproduce mine.toml --out fresh").ok();
    let fresh = dir.read("fresh/results.json");
    let read = |bytes: &[u8]| without_how(serde_json::from_slice(bytes).unwrap());
    assert_eq!(read(&resumed), read(&fresh));
}
