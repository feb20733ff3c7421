//! The experiments, each a test, at the least effort: what a file marks with `must` has to hold wherever it was measured.
//!
//! Leaves the report in `target/report`. Experiments whose data is not there are ignored, and gaps in it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use parsimon_lab::{Effort, Experiment, Must, Outcome, Plan, experiments, report};

/// The folder of data: named by PARSIMON_DATA, or `data` in the repository, or beside it.
fn data(root: &Path) -> PathBuf {
    let named = std::env::var_os("PARSIMON_DATA").map(PathBuf::from);
    let beside = [root.join("data"), root.join("../shared/data")];
    named.or_else(|| beside.into_iter().find(|p| p.is_dir())).unwrap_or_else(|| root.join("data"))
}

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let experiments = experiments().unwrap();
    let is_must = |e: &&Experiment| e.expectations.iter().any(|x| x.must != Must::default());
    assert!(experiments.iter().filter(is_must).count() >= 3, "the files mark what must hold");
    let order: Vec<String> = experiments.iter().map(|experiment| experiment.id.clone()).collect();
    let outcomes: Arc<Mutex<Vec<Outcome>>> = Arc::default();
    let mut trials: Vec<Trial> = experiments
        .into_iter()
        .map(|experiment| {
            let (data, outcomes) = (data(&root), Arc::clone(&outcomes));
            Trial::ignorable_test(experiment.id.clone(), move || {
                let outcome = run(experiment, data);
                let result = judge(&outcome);
                outcomes.lock().unwrap().push(outcome);
                result
            })
        })
        .collect();
    trials.push(Trial::test("every_kind_that_is_used_is_in_the_documentation", || {
        every_kind_that_is_used_is_in_the_documentation();
        Ok(())
    }));
    let conclusion = libtest_mimic::run(&arguments, trials);
    let mut outcomes = outcomes.lock().unwrap();
    // A page of some experiments must not replace that of all.
    if outcomes.len() == order.len() {
        outcomes.sort_by_key(|outcome| order.iter().position(|id| *id == outcome.id));
        let out = root.join("target/report");
        report::write(&out, &outcomes, "quick effort, seed 1, by the test suite").unwrap();
    }
    conclusion.exit();
}

fn run(experiment: Experiment, data: PathBuf) -> Outcome {
    let trials = tempfile::tempdir().unwrap();
    let plan = Plan {
        experiments: vec![experiment],
        effort: Effort::Quick,
        trials: None,
        seed: 1,
        // The harness runs experiments side by side.
        threads: 1,
        data,
        folder: trials.path().join("trials"),
        budget: None,
    };
    plan.run(&|_| {}).remove(0)
}

fn judge(outcome: &Outcome) -> Result<Completion, Failed> {
    let broken = broken(outcome);
    if !broken.is_empty() {
        return Err(broken.join("\n").into());
    }
    let outcomes = std::slice::from_ref(outcome);
    let gaps: Vec<&str> = Outcome::gaps(outcomes).into_iter().map(|(why, _)| why).collect();
    // A defect is no gap: what has no data says so.
    if let Some(why) = gaps.iter().find(|why| !why.contains(" is not in ")) {
        return Err((*why).into());
    }
    Ok(match gaps.first().and_then(|why| why.split_once(" is not in ")) {
        Some((set, _)) => Completion::ignored_with(format!("needs the data set {set}")),
        None => Completion::Completed,
    })
}

fn broken(outcome: &Outcome) -> Vec<String> {
    let of = |variant: &parsimon_lab::VariantOutcome| -> Vec<String> {
        let fails = variant.findings.iter().filter(|f| f.must && f.leans == Some(false));
        let say = |f: &parsimon_lab::verdict::Finding| {
            let id = &outcome.id;
            format!("{id}, {}: {}: {:?}, to be {}", variant.name, f.says, f.measured, f.wanted)
        };
        fails.map(say).collect()
    };
    outcome.variants.iter().flat_map(of).collect()
}

fn every_kind_that_is_used_is_in_the_documentation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let documentation = std::fs::read_to_string(root.join("docs/lab.md")).unwrap();
    for folder in std::fs::read_dir(root.join("experiments")).unwrap() {
        let Ok(files) = std::fs::read_dir(folder.unwrap().path()) else { continue };
        for file in files {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let kind = text.lines().find_map(|line| line.strip_prefix("kind = \"")).unwrap();
            let kind = kind.trim_end_matches('"');
            assert!(documentation.contains(&format!("| `{kind}` |")), "docs/lab.md lacks {kind}");
        }
    }
}
