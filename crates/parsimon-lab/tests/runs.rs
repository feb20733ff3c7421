//! Trials depend on the seed alone, are kept, and make a page.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};

use parsimon_lab::summary::Verdict;
use parsimon_lab::{Effort, Experiment, Outcome, Plan, experiments, report};

fn find(id: &str) -> Experiment {
    experiments().unwrap().into_iter().find(|e| e.id == id).unwrap()
}

fn plan(experiment: Experiment, folder: &Path, threads: usize) -> Plan {
    Plan {
        experiments: vec![experiment],
        effort: Effort::Quick,
        trials: None,
        seed: 1,
        threads,
        data: PathBuf::from("no/such/folder"),
        folder: folder.join("trials"),
    }
}

/// A system small enough for a test.
fn small() -> Experiment {
    let text = r#"
        title = "Small"
        printed = "-"
        claim = "PDA finds zeros."
        kind = "identification"
        axes = { mismatch = "mismatch, dB", zeros = "zeros, %" }
        trials = { quick = 3, standard = 3, full = 3 }
        settings = { n = 50, zeros = 0.9, samples = { quick = 2000, standard = 2000, full = 2000 } }
        [[method]]
        name = "PDA"
        spec = { algorithm = "pda", rate = 0.13, alpha = 0.8, l1 = 3 }
        [[variant]]
        name = "as printed"
        [[expect]]
        says = "zeros"
        left = "PDA.zeros@end"
        is = "above"
        paper = 50.0
    "#;
    Experiment::parse("test/small", text).unwrap()
}

fn numbers(outcomes: &[Outcome]) -> String {
    serde_json::to_string(outcomes).unwrap()
}

#[test]
fn threads_change_no_number_and_finished_trials_are_kept() {
    let [one, two] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let alone = plan(small(), one.path(), 1).run(&|_| {});
    let together = plan(small(), two.path(), 3).run(&|_| {});
    assert_eq!(numbers(&alone), numbers(&together));
    assert_eq!(alone[0].verdict, Verdict::Reproduces);

    let kept = std::sync::atomic::AtomicUsize::new(0);
    let again = plan(small(), one.path(), 2).run(&|progress| {
        kept.fetch_max(progress.kept, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(numbers(&alone), numbers(&again));
    assert_eq!(kept.into_inner(), 3, "all three come from the folder");

    // Another seed is another run, and a damaged file is no trial.
    let other = Plan { seed: 2, ..plan(small(), one.path(), 1) }.run(&|_| {});
    assert_ne!(numbers(&alone), numbers(&other));
    for entry in std::fs::read_dir(one.path().join("trials")).unwrap() {
        std::fs::write(entry.unwrap().path(), "{").unwrap();
    }
    assert_eq!(numbers(&alone), numbers(&plan(small(), one.path(), 1).run(&|_| {})));
}

#[test]
fn the_page_has_every_figure_and_the_gap_of_missing_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut outcomes = plan(small(), folder.path(), 1).run(&|_| {});
    outcomes.extend(plan(find("csgd/mnist"), folder.path(), 1).run(&|_| {}));
    report::write(folder.path(), &outcomes, "a <test>").unwrap();
    let page = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 2 + 2);
    assert!(page.contains("a &lt;test&gt;") && !page.contains("NaN"));
    assert!(page.contains("mnist is not in") && page.contains("parsimon data get mnist"));
    assert_eq!(outcomes[1].verdict, Verdict::NotRun);
    assert!(folder.path().join("results.json").exists());
    let csv = std::fs::read_to_string(folder.path().join("curves/test-small-0.csv")).unwrap();
    assert!(csv.starts_with("method,measure,round,mean,standard_deviation\n\"PDA\",mismatch,"));
}

/// What must hold whenever the experiments are run.
#[test]
fn the_theorems_hold_and_the_orderings_reproduce() {
    let folder = tempfile::tempdir().unwrap();
    let holds = |id: &str, variant: usize| -> Vec<bool> {
        let outcomes = plan(find(id), folder.path(), 2).run(&|_| {});
        outcomes[0].variants[variant].findings.iter().map(|f| f.holds.unwrap()).collect()
    };
    assert!(holds("slides/equivalences", 0).iter().all(|h| *h));
    // CSGD below SGD, below NCSGD, near 2SGD at the end; not after 1,000 rows.
    assert_eq!(holds("csgd/low-dimension", 0), [true, true, true, false]);
}
