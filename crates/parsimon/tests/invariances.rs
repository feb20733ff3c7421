//! Invariances, to the last bit: chunks, stores, saving and resuming, reading,
//! the order of features in a row, rows that say nothing, and the company of other classes.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::{
    Bits, PRECISIONS, bits, chunk, family, implicit_family, learn_margins, learner, margin_bits,
    ones, projecting_family, rows, trainer, with,
};
use parsimon::Trainer;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::{Precision, Storage};
use parsimon::train::{Online, Progress};
use parsimon::workspace::StateWriter;
use parsimon_oracle::streams::{self, SplitMix64};
use serde_json::Value;

const DIMENSION: u32 = 24;
const ROUNDS: usize = 90;

/// One method on one stream.
struct Case {
    spec: Value,
    chunk: Chunk,
}

/// Every method on a stream with every trouble, and on one whose gradients cancel to exact zeros.
fn cases() -> Vec<Case> {
    let troubles =
        streams::random(5, ROUNDS, DIMENSION as usize, "logistic", streams::Options::default());
    let (troubles, ones) = (chunk(&troubles), ones(6, ROUNDS, DIMENSION));
    let specs = || family().into_iter().chain(implicit_family());
    let on = |loss: &'static str, chunk: Chunk| {
        move |spec: Value| Case { spec: with(&spec, "loss", loss), chunk: chunk.clone() }
    };
    let own = projecting_family().into_iter().flat_map(|spec| {
        [&troubles, &ones].map(|chunk| Case { spec: spec.clone(), chunk: chunk.clone() })
    });
    let own: Vec<_> = own.collect();
    let shared = specs().map(on("logistic", troubles)).chain(specs().map(on("hinge", ones)));
    shared.chain(own).collect()
}

fn each(test: impl Fn(&Case, Precision)) {
    for case in cases() {
        PRECISIONS.iter().for_each(|&precision| test(&case, precision));
    }
}

/// A run to the last bit.
#[derive(Debug, PartialEq)]
struct Trace {
    margins: Vec<u64>,
    heads: Bits,
    nonzeros: usize,
}

fn trace(online: &dyn Online, margins: &[f64]) -> Trace {
    Trace {
        margins: margin_bits(margins),
        heads: bits(online.freeze().heads()),
        nonzeros: online.nonzeros(),
    }
}

fn straight(case: &Case, precision: Precision, storage: Storage) -> Trace {
    let mut online = learner(&case.spec, precision, true, storage);
    let mut margins = Vec::new();
    online.learn(&case.chunk, &mut margins);
    trace(&*online, &margins)
}

/// What a trainer said and holds.
#[derive(Debug, PartialEq)]
struct Record {
    trace: Trace,
    reports: Vec<String>,
    last: String,
    progressive: String,
    curve: String,
}

/// Lines may carry a NaN, which equals nothing: they are compared as texts, which show every digit.
fn record(trainer: &Trainer, margins: &[f64], reports: &[Progress]) -> Record {
    let trace = trace(trainer.online(), margins);
    let (progressive, curve) =
        (format!("{:?}", trainer.progressive()), format!("{:?}", trainer.curve_so_far()));
    let last = format!("{:?}", trainer.last_report());
    let reports = reports.iter().map(|line| format!("{line:?}")).collect();
    Record { trace, reports, last, progressive, curve }
}

fn in_chunks_of(case: &Case, precision: Precision, size: usize) -> Record {
    let mut trainer = trainer(&case.spec, precision);
    let (mut margins, mut reports) = (Vec::new(), Vec::new());
    for start in (0..case.chunk.len()).step_by(size) {
        let part = rows(&case.chunk, start..case.chunk.len().min(start + size));
        let mut report = |line: &Progress| reports.push(line.clone());
        margins.extend(learn_margins(&mut trainer, &part, &mut report));
    }
    record(&trainer, &margins, &reports)
}

#[test]
fn chunks() {
    each(|case, precision| {
        let whole = in_chunks_of(case, precision, usize::MAX / 2);
        assert_eq!(whole.reports.len(), 7, "1, 2, 4, ..., 64");
        for size in [1, 2, 7, 100] {
            let other = in_chunks_of(case, precision, size);
            assert_eq!(whole, other, "chunks of {size}, {precision}: {}", case.spec);
        }
    });
}

/// Drops the label of some rows and the weight of others.
fn with_silent_rows(chunk: &Chunk) -> Chunk {
    let mut random = SplitMix64::new(8);
    let mut mixed = Chunk::new();
    let silent = |mixed: &mut Chunk, random: &mut SplitMix64, label: Option<f64>| {
        for j in 1..2 * DIMENSION {
            if random.chance(0.3) {
                mixed.push_feature(j, random.normal());
            }
        }
        mixed.finish_row(label, if label.is_some() { 0.0 } else { 1.0 }, Repeats::Refuse).unwrap();
    };
    for i in 0..chunk.len() {
        while random.chance(0.4) {
            let label = if random.chance(0.5) { Some(1.0) } else { None };
            silent(&mut mixed, &mut random, label);
        }
        mixed.copy_row(chunk, i);
    }
    silent(&mut mixed, &mut random, None);
    mixed
}

#[test]
fn chunks_with_rows_that_have_no_label() {
    each(|case, precision| {
        let case = Case { spec: case.spec.clone(), chunk: with_silent_rows(&case.chunk) };
        let whole = in_chunks_of(&case, precision, usize::MAX / 2);
        for size in [1, 7] {
            let other = in_chunks_of(&case, precision, size);
            assert_eq!(whole, other, "chunks of {size}, {precision}: {}", case.spec);
        }
    });
}

/// Rows without a label or without weight may stand anywhere: the others neither see nor learn otherwise.
#[test]
fn rows_that_say_nothing() {
    each(|case, precision| {
        let plain = straight(case, precision, Storage::Growing);
        let mixed = with_silent_rows(&case.chunk);
        let mut online = learner(&case.spec, precision, true, Storage::Growing);
        let mut margins = Vec::new();
        online.learn(&mixed, &mut margins);
        let counts = |chunk: &Chunk, i: usize| chunk.label(i).is_some() && chunk.weight(i) > 0.0;
        let spoken = |chunk: &Chunk, margins: &[f64]| -> Vec<u64> {
            (0..chunk.len()).filter(|&i| counts(chunk, i)).map(|i| margins[i].to_bits()).collect()
        };
        let mut alone = Vec::new();
        learner(&case.spec, precision, true, Storage::Growing).learn(&case.chunk, &mut alone);
        assert_eq!(spoken(&mixed, &margins), spoken(&case.chunk, &alone), "{}", case.spec);
        let after = trace(&*online, &[]);
        assert_eq!((after.heads, after.nonzeros), (plain.heads, plain.nonzeros), "{}", case.spec);
    });
}

#[test]
fn silent_rows_leave_the_average_loss_alone() {
    each(|case, precision| {
        let mixed = with_silent_rows(&case.chunk);
        let average = |chunk: &Chunk| {
            let mut trainer = trainer(&case.spec, precision);
            trainer.learn(chunk, &mut |_| {}).unwrap();
            (trainer.progressive().average(), trainer.progressive().weight())
        };
        assert_eq!(average(&case.chunk), average(&mixed), "{}", case.spec);
    });
}

#[test]
fn stores() {
    each(|case, precision| {
        let growing = straight(case, precision, Storage::Growing);
        // 16 slots hold a part of the features only; the others go to the index beside them.
        for storage in [Storage::Index, Storage::Slots(16), Storage::Slots(1 << 10)] {
            let other = straight(case, precision, storage);
            assert_eq!(growing, other, "{storage:?}, {precision}: {}", case.spec);
        }
    });
}

#[test]
fn stores_with_ids_far_out() {
    each(|case, precision| {
        let mut far = Chunk::new();
        for i in 0..case.chunk.len() {
            for (j, v) in case.chunk.row(i).iter() {
                far.push_feature(if j % 3 == 0 { j * 150_000_000 } else { j }, v);
            }
            let (y, weight) = (case.chunk.label(i), case.chunk.weight(i));
            far.finish_row(y, weight, Repeats::Refuse).unwrap();
        }
        let case = Case { spec: case.spec.clone(), chunk: far };
        let growing = straight(&case, precision, Storage::Growing);
        for storage in [Storage::Index, Storage::Slots(16)] {
            let other = straight(&case, precision, storage);
            assert_eq!(growing, other, "{storage:?}, {precision}: {}", case.spec);
        }
    });
}

fn restored(
    case: &Case,
    precision: Precision,
    storage: Storage,
    from: &dyn Online,
) -> Box<dyn Online> {
    let mut saved = StateWriter::new();
    from.save(&mut saved);
    assert!(saved.is_finite(), "{}", case.spec);
    let mut online = learner(&case.spec, precision, true, storage);
    let mut input = saved.as_bytes();
    assert_eq!(online.restore(&mut input), Ok(()), "{}", case.spec);
    assert!(input.is_empty(), "{}", case.spec);
    online
}

#[test]
fn saved_and_restored_after_every_row() {
    each(|case, precision| {
        for storage in [Storage::Growing, Storage::Index] {
            let whole = straight(case, precision, storage);
            let mut online = learner(&case.spec, precision, true, storage);
            let mut margins = Vec::new();
            for i in 0..case.chunk.len() {
                online.learn_rows(&case.chunk, i..i + 1, &mut margins);
                online = restored(case, precision, storage, &*online);
            }
            assert_eq!(trace(&*online, &margins), whole, "{storage:?}, {precision}: {}", case.spec);
        }
    });
}

#[test]
fn saved_once_at_every_row_of_a_short_stream() {
    each(|case, precision| {
        let case = Case { spec: case.spec.clone(), chunk: rows(&case.chunk, 0..30) };
        let whole = straight(&case, precision, Storage::Growing);
        for cut in 0..=case.chunk.len() {
            let mut first = learner(&case.spec, precision, true, Storage::Growing);
            let mut margins = Vec::new();
            first.learn_rows(&case.chunk, 0..cut, &mut margins);
            let mut second = restored(&case, precision, Storage::Growing, &*first);
            second.learn_rows(&case.chunk, cut..case.chunk.len(), &mut margins);
            assert_eq!(trace(&*second, &margins), whole, "row {cut}, {precision}: {}", case.spec);
        }
    });
}

/// Through a file, with everything a trainer keeps beside the learner.
#[test]
fn checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    each(|case, precision| {
        let whole = in_chunks_of(case, precision, usize::MAX / 2);
        for cut in [0, 23, 64] {
            let (mut margins, mut reports) = (Vec::new(), Vec::new());
            let mut first = trainer(&case.spec, precision);
            let mut report = |line: &Progress| reports.push(line.clone());
            margins.extend(learn_margins(&mut first, &rows(&case.chunk, 0..cut), &mut report));
            first.save_checkpoint(&path).unwrap();
            let mut second = Trainer::resume(&path).unwrap();
            let rest = rows(&case.chunk, cut..case.chunk.len());
            margins.extend(learn_margins(&mut second, &rest, &mut report));
            let resumed = record(&second, &margins, &reports);
            assert_eq!(resumed, whole, "row {cut}, {precision}: {}", case.spec);
        }
    });
}

#[test]
fn looking_changes_nothing() {
    each(|case, precision| {
        let mut online = learner(&case.spec, precision, true, Storage::Growing);
        let (mut margins, mut seen) = (Vec::new(), Vec::new());
        for i in 0..case.chunk.len() {
            online.learn_rows(&case.chunk, i..i + 1, &mut margins);
            online.predict(&case.chunk, &mut seen);
            let nonzeros = online.freeze().heads()[0].indices().len();
            assert_eq!(online.nonzeros(), nonzeros, "row {i}, {precision}: {}", case.spec);
            online.save(&mut StateWriter::new());
        }
        let whole = straight(case, precision, Storage::Growing);
        assert_eq!(trace(&*online, &margins), whole, "{precision}: {}", case.spec);
    });
}

/// The margin a user is told for a row is the one it is then learned with, to the bit: both add up in one order.
#[test]
fn what_is_told_is_what_is_learned_with() {
    each(|case, precision| {
        // These play one point and report another.
        if case.spec["algorithm"] == "asgd" || case.spec["algorithm"] == "lazy-sparse" {
            return;
        }
        let mut online = learner(&case.spec, precision, true, Storage::Growing);
        for i in 0..case.chunk.len() {
            let (mut told, mut learned) = (Vec::new(), Vec::new());
            online.predict(&rows(&case.chunk, i..i + 1), &mut told);
            online.learn_rows(&case.chunk, i..i + 1, &mut learned);
            assert_eq!(margin_bits(&told), margin_bits(&learned), "row {i}: {}", case.spec);
        }
    });
    let longest = |case: &Case| (0..case.chunk.len()).map(|i| case.chunk.row(i).len()).max();
    let long = cases().iter().any(|case| longest(case) > Some(8));
    assert!(long, "rows of up to eight features add up in one order anyhow");
}

#[test]
fn the_order_of_features_in_a_row() {
    each(|case, precision| {
        let mut random = SplitMix64::new(9);
        let mut shuffled = Chunk::new();
        for i in 0..case.chunk.len() {
            let mut row: Vec<_> = case.chunk.row(i).iter().collect();
            row.sort_by_cached_key(|_| random.bits());
            row.iter().for_each(|&(j, v)| shuffled.push_feature(j, v));
            let (y, weight) = (case.chunk.label(i), case.chunk.weight(i));
            shuffled.finish_row(y, weight, Repeats::Refuse).unwrap();
        }
        let other = Case { spec: case.spec.clone(), chunk: shuffled };
        assert_eq!(
            straight(&other, precision, Storage::Growing),
            straight(case, precision, Storage::Growing),
            "{precision}: {}",
            case.spec
        );
    });
}

#[test]
fn a_feature_never_seen_has_no_weight() {
    each(|case, precision| {
        // Over the simplex every feature has a weight, from the beginning.
        let everywhere = case.spec["ball"] == "simplex-kl";
        let mut met: Vec<u32> = (0..case.chunk.len())
            .flat_map(|i| case.chunk.row(i).indices().iter().copied())
            .collect();
        met.sort_unstable();
        met.dedup();
        let mut online = learner(&case.spec, precision, true, Storage::Growing);
        assert_eq!(online.nonzeros(), if everywhere { 23 } else { 0 }, "{}", case.spec);
        online.learn(&case.chunk, &mut Vec::new());
        let head = online.freeze().into_heads().remove(0);
        assert!(head.weights().iter().all(|w| *w != 0.0), "{}", case.spec);
        let strangers = head.indices().iter().filter(|j| met.binary_search(j).is_err()).count();
        assert_eq!(strangers > 0, everywhere && met.len() < 23, "{}", case.spec);
        assert!(!head.indices().is_empty(), "nothing was learned: {}", case.spec);
    });
}

#[test]
fn one_vs_all_is_its_classes_alone() {
    const CLASSES: usize = 3;
    for loss in ["logistic", "squared"] {
        let stream = streams::random(11, ROUNDS, DIMENSION as usize, loss, {
            streams::Options { huge: false, ..streams::Options::default() }
        });
        let mut random = SplitMix64::new(12);
        let classes: Vec<usize> =
            stream.examples.iter().map(|_| (random.bits() % CLASSES as u64) as usize).collect();
        let labeled = |label: &dyn Fn(usize) -> f64| {
            let mut stream = stream.clone();
            for (example, class) in stream.examples.iter_mut().zip(&classes) {
                example.y = label(*class);
            }
            chunk(&stream)
        };
        let other = if loss == "squared" { 0.0 } else { -1.0 };
        let together = labeled(&|class| class as f64);
        let shared = family().into_iter().chain(implicit_family());
        let own = projecting_family().into_iter();
        let own = own.filter(|spec| {
            let is_of_classes = spec["loss"] == "halfspace" || spec["loss"] == "hinge";
            is_of_classes == (loss == "logistic")
        });
        for spec in shared.map(|spec| with(&spec, "loss", loss)).chain(own) {
            for precision in PRECISIONS {
                let many = with(&with(&spec, "multiclass", true), "classes", vec!["a", "b", "c"]);
                let mut all = learner(&many, precision, true, Storage::Growing);
                let mut margins = Vec::new();
                all.learn(&together, &mut margins);
                let (mut heads, mut nonzeros) = (Vec::new(), 0);
                for k in 0..CLASSES {
                    let mut alone = learner(&spec, precision, true, Storage::Growing);
                    let mut own = Vec::new();
                    let rows = labeled(&|class| if class == k { 1.0 } else { other });
                    alone.learn(&rows, &mut own);
                    let column: Vec<f64> =
                        margins.iter().skip(k).step_by(CLASSES).copied().collect();
                    assert_eq!(margin_bits(&column), margin_bits(&own), "class {k}: {spec}");
                    heads.extend(alone.freeze().into_heads());
                    nonzeros += alone.nonzeros();
                }
                assert_eq!(bits(all.freeze().heads()), bits(&heads), "{spec}");
                assert_eq!(all.nonzeros(), nonzeros, "{spec}");
            }
        }
    }
}
