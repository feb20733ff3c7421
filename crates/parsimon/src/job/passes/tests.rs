use parsimon_core::Repeats;
use parsimon_testing::SplitMix64;

use super::*;
use crate::settings::Spec;
use crate::survey::InputSchema;

/// Rows of eight features with a label that `label` gives for the row's number, the features, and noise.
fn rows(n: usize, label: impl Fn(usize, &[f64], f64) -> f64) -> Chunk {
    let (mut chunk, mut random) = (Chunk::new(), SplitMix64::new(5));
    for i in 0..n {
        let x: Vec<f64> = (0..8).map(|_| 2.0 * random.unit() - 1.0).collect();
        (1..).zip(&x).for_each(|(j, v)| chunk.push_feature(j, *v));
        let y = label(i, &x, random.unit());
        chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

/// A trainer after one pass.
fn learned(spec: Spec, rows: &Chunk) -> Trainer {
    let options = LearnerOptions::default();
    let mut trainer =
        Trainer::new(spec.resolve().unwrap(), options, InputSchema::default()).unwrap();
    trainer.learn(rows, &mut |_| {}).unwrap();
    trainer.decide();
    trainer
}

fn auto() -> Spec {
    Spec::new("auto").set("loss", "logistic")
}

fn sign(x: f64) -> f64 {
    if x > 0.0 { 1.0 } else { -1.0 }
}

/// All features count, so that few rows are learned slowly.
fn of_all(x: &[f64], noise: f64) -> f64 {
    sign(
        x.iter().zip([3.0, -2.0, 2.0, 1.0, -1.0, 1.5, -3.0, 0.5]).map(|(x, w)| x * w).sum::<f64>()
            + noise
            - 0.5,
    )
}

#[test]
fn few_rows_that_agree_are_learned_several_times() {
    let all = rows(400, |_, x, noise| of_all(x, noise));
    let trainer = learned(auto(), &all);
    let Repetition::Several(choice) = decide(&trainer, &all, 1).unwrap() else {
        panic!("one pass");
    };
    let Evidenced { passes, rows: judged, loss, one_pass, .. } = choice.evidence;
    assert!(passes > 1 && judged == 400 && loss < 0.9 * one_pass, "{:?}", choice.evidence);
    // The decision promises what rows of the same kind show.
    let mut often = fresh(&trainer, &choice.settings).unwrap();
    (0..passes).for_each(|_| often.learn(&all, &mut |_| {}).unwrap());
    let later = rows(4000, |_, x, noise| of_all(x, noise));
    let later = picked(&later, &(400..4000).collect::<Vec<_>>());
    let mut courses = [Course::default(), Course::default()];
    courses[0].judge(&trainer, &later);
    courses[1].judge(&often, &later);
    assert!(mean(&courses[1].losses) < mean(&courses[0].losses));
    // Nothing is random.
    let Repetition::Several(again) = decide(&trainer, &all, 1).unwrap() else {
        panic!("one pass");
    };
    assert_eq!(again.evidence, choice.evidence);
    assert_eq!(again.settings.to_json(), choice.settings.to_json());
}

#[test]
fn noise_promises_nothing() {
    // Rows that a contender had learned would be predicted better than by chance after many passes.
    let all = rows(600, |_, _, noise| sign(noise - 0.5));
    let trainer = learned(auto(), &all);
    if let Repetition::Several(choice) = decide(&trainer, &all, 1).unwrap() {
        assert!(choice.evidence.loss > 0.68, "{:?}", choice.evidence);
    }
    let mut contenders = contenders_of(&trainer, &all);
    let order: Vec<usize> = (0..all.len()).collect();
    race(&mut contenders, (&trainer, &all, &order), &[1, 30], FOLDS).unwrap();
    let finalists = contenders.iter().filter(|c| c.courses.len() == 2);
    let losses: Vec<f64> = finalists.map(|c| mean(&c.courses[1].losses)).collect();
    assert!(!losses.is_empty() && losses.iter().all(|loss| *loss > 0.68), "{losses:?}");
}

/// All settings that compete after a pass.
fn contenders_of(trainer: &Trainer, all: &Chunk) -> Vec<Contender> {
    let settings = trainer.settings();
    let usual = settings.after_race(trainer.online().chosen());
    contenders(settings, settings.typed::<Auto>().unwrap(), &usual, all.len())
}

#[test]
fn every_finalist_is_judged_on_every_row_and_the_first_after_one_pass() {
    let all = rows(500, |_, x, noise| of_all(x, noise));
    let trainer = learned(auto(), &all);
    let mut contenders = contenders_of(&trainer, &all);
    let order: Vec<usize> = (0..all.len()).collect();
    race(&mut contenders, (&trainer, &all, &order), &[1, 2, 3, 5], FOLDS).unwrap();
    let judged = contenders.iter().filter(|c| !c.courses.is_empty());
    assert!(judged.clone().count() <= FINALISTS + 1);
    judged.for_each(|c| c.courses.iter().for_each(|course| assert_eq!(course.losses.len(), 500)));
    assert!(!contenders[0].courses.is_empty());
}

#[test]
fn a_future_that_differs_keeps_one_pass_in_order() {
    // The last third says the opposite of the first rows, which one pass forgets and several do not.
    let turned = |i: usize, x: &[f64], noise: f64| match i < 1600 {
        true => of_all(x, noise),
        false => -of_all(x, noise),
    };
    let all = rows(2400, turned);
    let trainer = learned(auto(), &all);
    let usual = trainer.settings().after_race(trainer.online().chosen());
    assert!(is_worse_later(&trainer, &all, (&usual, &usual), 30).unwrap());
    assert!(matches!(decide(&trainer, &all, 1).unwrap(), Repetition::Once));
}

#[test]
fn some_rows_and_settings_need_no_look() {
    let all = rows(100, |_, x, noise| of_all(x, noise));
    let named = learned(Spec::new("ftrl"), &all);
    assert!(matches!(may_repeat(&named, 100, 800), Some(Repetition::Undecided)));
    let bare = learned(auto(), &all);
    assert!(matches!(may_repeat(&bare, 59, 472), Some(Repetition::Undecided)));
    assert!(may_repeat(&bare, 60, 480).is_none());
    assert!(may_repeat(&bare, 500_000, 4_000_000).is_none());
    assert!(matches!(may_repeat(&bare, 500_001, 4_000_000), Some(Repetition::Once)));
    let fading = learned(auto().set("half_life", 300), &all);
    assert!(matches!(may_repeat(&fading, 100, 800), Some(Repetition::Undecided)));
}

#[test]
fn of_equal_losses_the_smaller_model_is_chosen() {
    let settings = auto().resolve().unwrap();
    let course =
        |loss: f64, nonzeros| Course { losses: vec![loss; 4], nonzeros, ..Course::default() };
    let contender = |courses| Contender { settings: settings.clone(), courses };
    let contenders = [
        contender(vec![course(0.5, 10), course(0.4, 10)]),
        contender(vec![course(0.45, 5), course(0.4002, 7), course(0.4001, 8)]),
    ];
    assert_eq!(best(&contenders), Some((1, 1)));
}
