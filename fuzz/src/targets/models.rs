//! Models, checkpoints, deltas and calibrations.

use std::sync::LazyLock;

use parsimon::merge::{Combine, Delta};
use parsimon::settings::Precision;
use parsimon::workspace::{CalibrationMethod, Calibrator};
use parsimon::{Error, LearnerOptions, Model, Spec, Trainer};
use parsimon_files::container::{Container, Kind};

use crate::{Outcome, learned, repair};

/// A learner of a method, of some rows.
fn taught(spec: Spec, precision: Precision) -> Trainer {
    let mut trainer =
        learned::trainer(spec, LearnerOptions { precision, ..LearnerOptions::default() });
    trainer.note_names([(1, "one"), (2, "two"), (6, "b=x")].into_iter().collect());
    learned::learn(&mut trainer, &learned::rows(30)).unwrap();
    trainer
}

fn specs() -> Vec<Spec> {
    let dense = |name: &str| Spec::new(name).set("dimension", 8);
    vec![
        Spec::new("ftrl"),
        Spec::new("auto"),
        Spec::new("sgd").set("normalize", true),
        Spec::new("asgd").set("ball", "l1").set("radius", 0.8),
        Spec::new("adam"),
        Spec::new("dual-averaging")
            .set("ball", "simplex-kl")
            .set("radius", 2.0)
            .set("dimension", 8),
        dense("rls").set("loss", "squared"),
        dense("apa").set("order", 2).set("loss", "projection"),
        Spec::new("multikernel-pda").set("kernel", "gaussian").set("variances", vec![1]),
        Spec::new("ftrl").set("half_life", 20).set("class_weight", "balanced"),
    ]
}

pub(crate) fn checkpoint_seeds() -> Vec<Vec<u8>> {
    let precision = |k: usize| [Precision::F32, Precision::F64][k % 2];
    specs()
        .into_iter()
        .enumerate()
        .map(|(k, spec)| taught(spec, precision(k)).checkpoint())
        .collect()
}

pub(crate) fn model_seeds() -> Vec<Vec<u8>> {
    let fit = |method| {
        let rows: Vec<(f64, bool, f64)> =
            (0..40).map(|k| (f64::from(k) * 0.2 - 4.0, k % 3 > 0, 1.0)).collect();
        Calibrator::fit(method, &rows)
    };
    let mut seeds: Vec<Vec<u8>> =
        specs().into_iter().map(|spec| taught(spec, Precision::F64).model().to_bytes()).collect();
    for method in [CalibrationMethod::Platt, CalibrationMethod::Isotonic] {
        let model = taught(Spec::new("ftrl"), Precision::F32).model();
        seeds.push(model.with_calibration(Some(fit(method))).to_bytes());
    }
    seeds
}

/// The state that deltas begin at.
static START: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let specs = [
        Spec::new("ftrl").set("l1", 0.1),
        Spec::new("sgd").set("normalize", true),
        Spec::new("adagrad-fobos"),
    ];
    specs.into_iter().map(|spec| taught(spec, Precision::F64).checkpoint()).collect()
});

pub(crate) fn delta_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for start in START.iter() {
        let [from, mut to] = [start, start].map(|bytes| Trainer::from_checkpoint(bytes).unwrap());
        learned::learn(&mut to, &learned::rows(9)).unwrap();
        for combine in [Combine::Damped, Combine::Shares, Combine::Mean] {
            let deltas = Delta::between(&from, &to, combine, 1).unwrap();
            seeds.extend(deltas.iter().map(Delta::to_bytes));
        }
    }
    seeds
}

pub(crate) fn calibration_seeds() -> Vec<Vec<u8>> {
    let bytes = |first: u8, numbers: &[f64]| {
        [first].into_iter().chain(numbers.iter().flat_map(|x| x.to_le_bytes())).collect()
    };
    vec![
        bytes(0, &[1.5, -0.25]),
        bytes(1, &[-2.0, 0.0, 1.0, -3.0, 0.5, 2.0]),
        bytes(1, &[0.0, 1.0, 2.0, 3.0, -1.0, -0.5, 0.0, 4.0]),
    ]
}

pub(crate) fn model(bytes: &[u8]) -> Outcome {
    let bytes = repair::container(bytes);
    if Container::from_bytes(&bytes, Kind::Model).is_err() {
        assert!(Model::from_bytes(&bytes).is_err());
        return Outcome::Unrecognized;
    }
    let read = Model::from_bytes(&bytes);
    if let Ok(model) = &read {
        learned::check_model(model);
    }
    Outcome::of(&read)
}

pub(crate) fn checkpoint(bytes: &[u8]) -> Outcome {
    let bytes = repair::container(bytes);
    if Container::from_bytes(&bytes, Kind::Checkpoint).is_err() {
        assert!(Trainer::from_checkpoint(&bytes).is_err());
        return Outcome::Unrecognized;
    }
    let trainer = match Trainer::from_checkpoint(&bytes) {
        Ok(trainer) => trainer,
        Err(error) => {
            let words = error.to_string();
            assert!(words.starts_with("the checkpoint: cannot be used: "), "{words}");
            return Outcome::Refused;
        }
    };
    assert!(learned::is_finite(&trainer), "a number that is not finite was taken");
    // A weight may overflow where the numbers that it is made of do not. Its model is not written, and learning stops.
    if trainer.check_finite().is_ok() {
        learned::check_model(&trainer.model());
    } else {
        assert!(Model::from_bytes(&trainer.model().to_bytes()).is_err());
    }
    let saved = trainer.checkpoint();
    // Two arrays for a large id could exceed the memory budget.
    drop(trainer);
    let mut again =
        Trainer::from_checkpoint(&saved).unwrap_or_else(|e| panic!("saved and not read back: {e}"));
    assert!(again.checkpoint() == saved, "saved, read and saved differently");
    // Whatever it learns, it learns without a panic.
    let _ = learned::learn(&mut again, &learned::rows(5));
    let _ = again.model();
    Outcome::Accepted
}

pub(crate) fn delta(bytes: &[u8]) -> Outcome {
    let bytes = repair::container(bytes);
    if Container::from_bytes(&bytes, Kind::Delta).is_err() {
        assert!(Delta::from_bytes(&bytes).is_err());
        return Outcome::Unrecognized;
    }
    let Ok(delta) = Delta::from_bytes(&bytes) else { return Outcome::Refused };
    let written = delta.to_bytes();
    assert!(
        Delta::from_bytes(&written).is_ok_and(|again| again == delta),
        "written and read differently"
    );
    let mut outcome = Outcome::Refused;
    for start in START.iter() {
        let mut state = Trainer::from_checkpoint(start).unwrap();
        match state.absorb([delta.clone()]) {
            // Documented: the trainer is of no use then.
            Err(Error::Diverged { .. }) => {}
            Err(_) => assert!(state.checkpoint() == *start, "refused, and the state has changed"),
            Ok(()) => {
                assert!(learned::is_finite(&state), "absorbed, and a number is not finite");
                learned::check_model(&state.model());
                outcome = Outcome::Accepted;
            }
        }
    }
    outcome
}

pub(crate) fn calibration(bytes: &[u8]) -> Outcome {
    let Some((&first, rest)) = bytes.split_first() else { return Outcome::Unrecognized };
    let (numbers, left) = rest.as_chunks::<8>();
    if !left.is_empty() {
        return Outcome::Unrecognized;
    }
    let method = [CalibrationMethod::Platt, CalibrationMethod::Isotonic][usize::from(first % 2)];
    let numbers: Vec<f64> = numbers.iter().map(|n| f64::from_le_bytes(*n)).collect();
    let Some(calibrator) = Calibrator::from_numbers(method, &numbers) else {
        return Outcome::Refused;
    };
    assert_eq!(calibrator.numbers(), numbers);
    let margins = [-1e300, -1e3, -1.5, 0.0, 5e-324, 0.5, 1e3, 1e300];
    for pair in margins.map(|margin| calibrator.log_odds(margin)).windows(2) {
        assert!(!pair.iter().any(|odds| odds.is_nan()), "{numbers:?}: {pair:?}");
        assert!(method == CalibrationMethod::Platt || pair[0] <= pair[1], "{numbers:?}: {pair:?}");
    }
    Outcome::Accepted
}
