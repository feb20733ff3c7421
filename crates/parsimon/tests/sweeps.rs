//! Many settings in one pass end as each would alone, to the last byte of its model.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod common;

use common::chunk;
use parsimon::core::{Chunk, Precision};
use parsimon::{Frame, Grid, Reading, Settings, Spec, Sweep, Trainer};
use parsimon_oracle::streams;

fn rows() -> Chunk {
    chunk(&streams::random(9, 700, 40, "logistic", streams::Options::default()))
}

fn settings(algorithm: &str, sweeps: &[&str]) -> Vec<Settings> {
    let specs = Grid::parse(sweeps).unwrap().expand(&Spec::new(algorithm)).unwrap();
    specs.iter().map(|spec| spec.resolve().unwrap()).collect()
}

fn bytes(model: &parsimon::Model) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.psm");
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn each_is_as_alone(all: Vec<Settings>, precision: Precision) {
    let frame = Frame { precision, ..Frame::default() };
    let rows = rows();
    let mut sweep = Sweep::new(all.clone(), frame, Reading::default()).unwrap();
    sweep.learn(&rows, &mut |_| {});
    for (k, settings) in all.into_iter().enumerate() {
        let name = format!("{:?}", settings.to_json());
        let mut alone = Trainer::new(settings, frame, Reading::default()).unwrap();
        alone.learn(&rows, &mut |_| {}).unwrap();
        assert_eq!(bytes(&sweep.model(k).unwrap()), bytes(&alone.model()), "{name}");
        assert_eq!(sweep.curve(k), alone.curve(), "{name}");
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
        each_is_as_alone(mixed, precision);
    }
}

#[test]
fn what_is_given_up_leaves_the_others_as_they_were() {
    let all = settings("ftrl", &["l1=0,0.1,1,10", "rate=0.05,0.2,1"]);
    let (rows, frame) = (rows(), Frame::default());
    let mut whole = Sweep::new(all.clone(), frame, Reading::default()).unwrap();
    whole.learn(&rows, &mut |_| {});
    let mut sweep = Sweep::new(all, frame, Reading::default()).unwrap();
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
