//! The experiments, all of them at the least effort: what a file marks with `must` has to hold wherever it was measured.
//!
//! Leaves the report in `target/report`. Experiments whose data is not there are gaps in it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};

use parsimon_lab::{Effort, Must, Outcome, Plan, experiments, report};

/// The folder of data: named by PARSIMON_DATA, or `data` in the repository, or beside it.
fn data(root: &Path) -> PathBuf {
    let named = std::env::var_os("PARSIMON_DATA").map(PathBuf::from);
    let beside = [root.join("data"), root.join("../shared/data")];
    named.or_else(|| beside.into_iter().find(|p| p.is_dir())).unwrap_or_else(|| root.join("data"))
}

#[test]
fn what_must_hold_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let out = root.join("target/report");
    let experiments = experiments().unwrap();
    let is_must =
        |e: &&parsimon_lab::Experiment| e.expectations.iter().any(|x| x.must != Must::default());
    assert!(experiments.iter().filter(is_must).count() >= 3, "the files mark what must hold");
    let trials = tempfile::tempdir().unwrap();
    let plan = Plan {
        experiments,
        effort: Effort::Quick,
        trials: None,
        seed: 1,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        data: data(&root),
        folder: trials.path().join("trials"),
    };
    let outcomes = plan.run(&|_| {});
    report::write(&out, &outcomes, "quick effort, seed 1, by the test suite").unwrap();
    let broken: Vec<String> = outcomes.iter().flat_map(broken).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // A defect is no gap: what has no data says so, and all else ran.
    for (why, ids) in Outcome::gaps(&outcomes) {
        assert!(why.contains(" is not in "), "{ids:?}: {why}");
    }
}

fn broken(outcome: &Outcome) -> Vec<String> {
    let of = |variant: &parsimon_lab::VariantOutcome| -> Vec<String> {
        let fails = variant.findings.iter().filter(|f| f.must && f.holds == Some(false));
        let say = |f: &parsimon_lab::summary::Finding| {
            let id = &outcome.id;
            format!("{id}, {}: {}: {:?}, to be {}", variant.name, f.says, f.measured, f.wanted)
        };
        fails.map(say).collect()
    };
    outcome.variants.iter().flat_map(of).collect()
}

#[test]
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
