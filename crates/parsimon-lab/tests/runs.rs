//! Trials depend on the seed alone, are kept, and make a page.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use parsimon_lab::verdict::Verdict;
use parsimon_lab::{Effort, Experiment, Outcome, Plan, Step, experiments, report};

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
        budget: None,
    }
}

/// A system small enough for a test.
fn small() -> Experiment {
    let text = r#"
        title = "Small"
        printed = "Table 1"
        claim = "PDA finds zeros."
        kind = "identification"
        axes = { mismatch = "mismatch, dB", zeros = "zeros, %" }
        trials = { quick = 3, standard = 10, full = 10 }
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
    assert_eq!(alone[0].verdict, Verdict::Preview, "a quick run gives no verdict");

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
    assert_eq!(page.matches("<figure>").count(), 2, "what was not run has no figures");
    assert!(page.contains("a &lt;test&gt;") && !page.contains("NaN"));
    assert!(
        page.contains(
            "2 experiments on the papers&#39; own data or construction: 1 preview, 1 not run"
        ) || page.contains(
            "2 experiments on the papers' own data or construction: 1 preview, 1 not run"
        )
    );
    assert!(page.contains("preview: so far yes") && page.contains("PDA: zeros, %; at the end"));
    assert!(page.contains("measured less printed"), "printed numbers stand beside measured ones");
    assert!(page.contains("<h2>Not run</h2>") && page.contains("parsimon reproduce csgd/mnist"));
    assert!(page.contains("algorithm = &quot;pda&quot;, alpha = 0.8"), "the settings are there");
    assert!(page.contains("mnist is not in") && page.contains("parsimon data get mnist"));
    assert_eq!(outcomes[1].verdict, Verdict::NotRun);
    assert!(folder.path().join("results.json").exists());
    let csv = std::fs::read_to_string(folder.path().join("curves/test-small-0.csv")).unwrap();
    assert!(csv.starts_with("method,measure,round,mean,standard_deviation\n\"PDA\",mismatch,"));
}

#[test]
fn a_defect_in_one_trial_is_said_and_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut broken = small();
    broken.id = "test/broken".into();
    broken.settings.insert("samples".into(), "many".into());
    let plan = Plan { experiments: vec![broken, small()], ..plan(small(), folder.path(), 2) };
    let outcomes = plan.run(&|_| {});
    assert_eq!(outcomes[0].verdict, Verdict::NotRun);
    assert!(outcomes[0].variants[0].failure.as_ref().unwrap().starts_with("settings: "));
    assert_eq!(outcomes[1].verdict, Verdict::Preview);
    let gaps = Outcome::gaps(&outcomes);
    assert_eq!(gaps.len(), 1);
    assert_eq!(gaps[0].1, ["test/broken"]);
}

#[test]
fn verdicts_need_the_trials_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let run = |effort, trials| {
        let plan = Plan { effort, trials, ..plan(small(), folder.path(), 2) };
        plan.run(&|_| {}).remove(0)
    };
    let standard = run(Effort::Standard, None);
    assert_eq!((standard.verdict, standard.variants[0].trials), (Verdict::Reproduces, 10));
    assert!(standard.variants[0].findings[0].interval.is_some());
    // A number of trials chosen now is no number fixed beforehand.
    assert_eq!(run(Effort::Standard, Some(12)).verdict, Verdict::Preview);
    assert_eq!(run(Effort::Quick, None).verdict, Verdict::Preview);
}

#[test]
fn what_is_generated_in_the_place_of_data_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut experiment = find("slides/implicit");
    experiment.methods.truncate(1);
    experiment.expectations.clear();
    let outcomes = plan(experiment, folder.path(), 1).run(&|_| {});
    assert!(outcomes[0].variants[0].stand_in.as_ref().unwrap().contains("a9a is not there"));
    report::write(folder.path(), &outcomes, "a test").unwrap();
    let page = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    assert!(page.contains("these rows are generated with its counts"));
    assert!(page.contains("the spread measures the order only"));
}

/// What is kept by one run is on the page of the next, pictures and bands included.
#[test]
fn outcomes_are_kept_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let outcomes = plan(small(), folder.path(), 1).run(&|_| {});
    report::write(folder.path(), &outcomes, "a test").unwrap();
    let page = || std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    let first = page();
    let kept = report::merged(folder.path(), &[], &[small()]);
    assert!(kept.stale.is_empty());
    report::write(folder.path(), &kept.outcomes, "a test").unwrap();
    assert_eq!(first, page());
    assert_eq!(report::merged(folder.path(), &outcomes, &[small()]).outcomes.len(), 0);
    assert_eq!(report::merged(folder.path(), &[], &[]).stale, ["test/small"]);
}

#[test]
fn progress_is_told_in_order_with_the_time_that_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    plan(small(), folder.path(), 1).run(&|p| {
        seen.lock().unwrap().push((p.step, p.done_here, p.done, p.left.is_some()));
    });
    let (b, d) = (Step::Begins, Step::Done);
    let expected = [
        (b, 0, 0, false),
        (d, 1, 1, true),
        (b, 1, 1, true),
        (d, 2, 2, true),
        (b, 2, 2, true),
        (d, 3, 3, true),
    ];
    assert_eq!(seen.into_inner().unwrap(), expected);
}

/// A full run of an experiment with more trials than it needs.
fn full(trials: u64, every: bool, folder: &Path, threads: usize) -> Plan {
    let mut experiment = small();
    experiment.trials.full = trials;
    experiment.expectations[0].every = every;
    Plan { effort: Effort::Full, ..plan(experiment, folder, threads) }
}

/// Trials end where every interval is far from its boundary, at the same number for any number of threads, and the page says so.
#[test]
fn trials_stop_where_everything_is_decided_by_far() {
    let mut all = Vec::new();
    for threads in [1, 3] {
        let folder = tempfile::tempdir().unwrap();
        let outcomes = full(60, false, folder.path(), threads).run(&|_| {});
        let variant = &outcomes[0].variants[0];
        assert_eq!((variant.trials, variant.planned), (10, 60));
        assert_eq!(outcomes[0].verdict, Verdict::Reproduces);
        report::write(folder.path(), &outcomes, "a test").unwrap();
        let page = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
        assert!(page.contains("10 of 60 trials (every interval is far from its boundary)"));
        all.push(numbers(&outcomes));
    }
    assert_eq!(all[0], all[1]);
    // What is claimed of every run is asked of every run.
    let folder = tempfile::tempdir().unwrap();
    let outcomes = full(20, true, folder.path(), 2).run(&|_| {});
    assert_eq!(outcomes[0].variants[0].trials, 20);
}

/// When the time is up, each experiment has the trials that a verdict needs; a later run goes on from there.
#[test]
fn a_budget_leaves_ten_trials_of_each_and_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let short = Plan { budget: Some(Duration::ZERO), ..full(20, true, folder.path(), 1) };
    let outcomes = short.run(&|_| {});
    let variant = &outcomes[0].variants[0];
    assert_eq!((variant.trials, variant.planned), (10, 20));
    assert_eq!(variant.stopped.as_deref(), Some("the time was up"));
    assert_eq!(outcomes[0].verdict, Verdict::Reproduces);
    let kept = std::sync::atomic::AtomicUsize::new(0);
    let outcomes = full(20, true, folder.path(), 1).run(&|progress| {
        kept.fetch_max(progress.kept, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!((outcomes[0].variants[0].trials, kept.into_inner()), (20, 10));
    assert_eq!(outcomes[0].variants[0].stopped, None);
}

#[test]
fn a_measure_that_nothing_measures_is_found_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let mut experiment = small();
    let outcomes = plan(experiment.clone(), folder.path(), 1).run(&|_| {});
    assert_eq!(outcomes[0].unmeasured(), None);
    experiment.expectations[0].left = "PDA.errors@end".into();
    let outcomes = plan(experiment, folder.path(), 1).run(&|_| {});
    let why = outcomes[0].unmeasured().unwrap();
    assert!(
        why.contains("\"zeros\": nothing measures \"errors\"; there are mismatch, zeros"),
        "{why}"
    );
}
