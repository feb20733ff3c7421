//! Many settings in one pass end as each would alone, to the last byte of its model.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::chunk;
use parsimon::rows::Chunk;
use parsimon::settings::Precision;
use parsimon::tune::{EarlyStopping, Grid, Sweep};
use parsimon::workspace::Stopped;
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};
use parsimon_oracle::streams;

fn rows() -> Chunk {
    chunk(&streams::random(9, 700, 40, "logistic", streams::Options::default()))
}

fn settings(algorithm: &str, sweeps: &[&str]) -> Vec<Settings> {
    settings_of(&Spec::new(algorithm), sweeps)
}

fn settings_of(spec: &Spec, sweeps: &[&str]) -> Vec<Settings> {
    let specs = Grid::parse(sweeps).unwrap().expand(spec).unwrap();
    specs.iter().map(|spec| spec.resolve().unwrap()).collect()
}

fn bytes(model: &parsimon::Model) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.psm");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn each_is_as_alone(all: Vec<Settings>, precision: Precision) {
    let frame = LearnerOptions { precision, ..LearnerOptions::default() };
    let rows = rows();
    let mut sweep = Sweep::new(all.clone(), frame, InputSchema::default()).unwrap();
    sweep.learn(&rows, &mut |_| {});
    let curves = sweep.curves_so_far();
    for (k, settings) in all.into_iter().enumerate() {
        let name = format!("{:?}", settings.to_json());
        let mut alone = Trainer::new(settings, frame, InputSchema::default()).unwrap();
        alone.learn(&rows, &mut |_| {}).unwrap();
        assert_eq!(bytes(&sweep.model(k).unwrap()), bytes(&alone.model()), "{name}");
        assert_eq!(sweep.curve(k), alone.curve(), "{name}");
        assert_eq!(curves[k], alone.curve_so_far(), "{name}");
        assert_eq!(sweep.progressive(k), alone.progressive(), "{name}");
        assert_eq!(sweep.nonzeros()[k], alone.model().nonzeros(), "{name}");
    }
}

#[test]
fn every_setting_ends_as_it_would_alone() {
    for precision in [Precision::F32, Precision::F64] {
        // One group of 12, one of 16 and 4, and settings that cannot share a learner beside settings that can.
        each_is_as_alone(settings("ftrl", &["l1=0,0.1,1,10", "rate=0.05,0.2,1"]), precision);
        each_is_as_alone(settings("ftrl", &["l1=0..2:10", "l2=0,1"]), precision);
        let mut mixed = settings("adagrad-rda", &["l1=0,1e-3,0.1", "delta=0.1,1"]);
        mixed.extend(settings("fobos", &["l1=1e-4,1e-2"]));
        mixed.extend(settings("ftrl", &["beta=0.5,1", "loss=logistic,hinge"]));
        mixed.extend(settings("unified-rda", &["metric=sqrt,adagrad", "l1=0,0.01"]));
        mixed.extend(settings("ftprl", &["l1=0,0.01,0.1"]));
        // Normalized settings share their statistics, and those beside them have none.
        let normalized = Spec::new("ftrl").set("normalize", true);
        mixed.extend(settings_of(&normalized, &["l1=0,0.1,1", "rate=0.2,1"]));
        mixed.extend(settings_of(&normalized.set("loss", "squared"), &["l1=0,0.1", "rate=0.2,1"]));
        each_is_as_alone(mixed, precision);
    }
}

#[test]
fn threads_do_not_matter() {
    let normalized = Spec::new("ftrl").set("normalize", true);
    let mut all = settings_of(&normalized, &["l1=0,0.1,1,10", "rate=0.05,0.2,1"]);
    all.extend(settings("ftrl", &["l1=0,0.1,1,10", "rate=0.05,0.2,1,2"]));
    let (rows, frame) = (rows(), LearnerOptions::default());
    let learned = |threads| {
        let mut sweep = Sweep::new(all.clone(), frame, InputSchema::default()).unwrap();
        sweep.use_threads(threads);
        sweep.learn(&rows, &mut |_| {});
        sweep
    };
    let one = learned(1);
    for threads in [2, 3, 4, 9] {
        let several = learned(threads);
        assert_eq!(several.nonzeros(), one.nonzeros(), "{threads} threads");
        for k in 0..all.len() {
            assert_eq!(several.progressive(k), one.progressive(k));
            assert_eq!(bytes(&several.model(k).unwrap()), bytes(&one.model(k).unwrap()));
        }
    }
}

#[test]
fn settings_that_are_given_up_one_by_one_leave_the_others_as_they_were() {
    let normalized = Spec::new("ftrl").set("normalize", true);
    for spec in [Spec::new("ftrl"), normalized.clone(), normalized.set("loss", "squared")] {
        let all = settings_of(&spec, &["l1=0,0.1,1,10", "rate=0.05,0.2,1,2"]);
        let (rows, frame) = (rows(), LearnerOptions::default());
        let mut whole = Sweep::new(all.clone(), frame, InputSchema::default()).unwrap();
        whole.learn(&rows, &mut |_| {});
        let mut sweep = Sweep::new(all, frame, InputSchema::default()).unwrap();
        // Sixteen lanes, then eight, four, two and the last one alone.
        for start in (0..rows.len()).step_by(40) {
            let mut part = Chunk::new();
            (start..rows.len().min(start + 40)).for_each(|i| part.copy_row(&rows, i));
            sweep.learn(&part, &mut |_| {});
            let left = (0..16).filter(|&k| sweep.stopped(k).is_none());
            let left: Vec<usize> = left.collect();
            if left.len() > 1 {
                sweep.give_up(left[start % left.len()], "enough");
            }
        }
        let last = (0..16).find(|&k| sweep.stopped(k).is_none()).unwrap();
        assert_eq!(bytes(&sweep.model(last).unwrap()), bytes(&whole.model(last).unwrap()));
        assert_eq!(sweep.progressive(last), whole.progressive(last));
        assert_eq!(sweep.nonzeros()[last], whole.nonzeros()[last]);
    }
}

#[test]
fn what_is_given_up_leaves_the_others_as_they_were() {
    let all = settings("ftrl", &["l1=0,0.1,1,10", "rate=0.05,0.2,1"]);
    let (rows, frame) = (rows(), LearnerOptions::default());
    let mut whole = Sweep::new(all.clone(), frame, InputSchema::default()).unwrap();
    whole.learn(&rows, &mut |_| {});
    let mut sweep = Sweep::new(all, frame, InputSchema::default()).unwrap();
    let halves = |range: std::ops::Range<usize>| {
        let mut half = Chunk::new();
        range.for_each(|i| half.copy_row(&rows, i));
        half
    };
    sweep.learn(&halves(0..300), &mut |_| {});
    for k in [0, 2, 4, 6, 8, 10] {
        sweep.give_up(k, "enough");
    }
    sweep.learn(&halves(300..700), &mut |_| {});
    for k in 0..12 {
        match k % 2 {
            0 => assert!(sweep.model(k).is_none() && sweep.standings()[k].stopped.is_some()),
            _ => assert_eq!(bytes(&sweep.model(k).unwrap()), bytes(&whole.model(k).unwrap())),
        }
    }
    assert!(sweep.best().unwrap() % 2 == 1);
}

#[test]
fn what_is_hopeless_is_given_up_at_the_same_rows_whatever_the_chunks_and_threads() {
    let all = settings("ftrl", &["l1=0,0.1,1000,2000", "rate=0.05,0.2"]);
    let mut all_and_more = all;
    all_and_more.extend(settings("fobos", &["l1=1e-4,100"]));
    let (rows, frame) = (rows(), LearnerOptions::default());
    let rule = EarlyStopping { after: 64, ..EarlyStopping::default() };
    let run = |size: usize, threads: usize, rule: Option<EarlyStopping>| {
        let mut sweep = Sweep::new(all_and_more.clone(), frame, InputSchema::default()).unwrap();
        sweep.use_threads(threads);
        rule.into_iter().for_each(|rule| sweep.give_up_when(rule));
        let mut reports = Vec::new();
        let order: Vec<usize> = (0..rows.len()).collect();
        for part in order.chunks(size) {
            let mut chunk = Chunk::new();
            part.iter().for_each(|&i| chunk.copy_row(&rows, i));
            sweep.learn(&chunk, &mut |standings| reports.push(standings.to_vec()));
        }
        (sweep, reports)
    };
    let (whole, _) = run(700, 1, None);
    let (sweep, reports) = run(700, 1, Some(rule));
    let given_up: Vec<usize> = (0..sweep.len()).filter(|&k| sweep.model(k).is_none()).collect();
    assert!(!given_up.is_empty() && given_up.len() < sweep.len(), "{given_up:?}");
    assert!(whole.models(&given_up).iter().all(Option::is_some));
    for (size, threads) in [(1, 1), (37, 3), (700, 4)] {
        let (other, others) = run(size, threads, Some(rule));
        assert_eq!(others, reports);
        assert_eq!(other.curves_so_far(), sweep.curves_so_far());
        for k in 0..sweep.len() {
            let (one, two) = (sweep.model(k), other.model(k));
            assert_eq!(one.as_ref().map(bytes), two.as_ref().map(bytes));
            if let Some(model) = one {
                assert_eq!(bytes(&model), bytes(&whole.model(k).unwrap()));
            }
        }
    }
    let Some(Stopped::GivenUp { rows, .. }) = &sweep.standings()[given_up[0]].stopped else {
        panic!("not given up");
    };
    assert!(*rows >= 64 && rows.is_power_of_two());
}

#[test]
fn filters_with_a_dictionary_are_as_alone() {
    each_is_as_alone(settings("multikernel-pda", &["l1=0,0.01"]), Precision::F64);
    each_is_as_alone(settings("rls", &["delta=0.01,0.1", "dimension=100"]), Precision::F64);
}
