//! What a score reads of a learner is what its model would predict with.

use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
use parsimon_testing::SplitMix64;
use serde_json::json;

fn rows(random: &mut SplitMix64, classes: u64) -> Chunk {
    let mut chunk = Chunk::new();
    for _ in 0..700 {
        let label = random.below(classes);
        for j in 1..=6 {
            if random.chance(0.6) {
                chunk.push_feature(
                    j * (1 + label as u32 % 2),
                    random.between(-2.0, 2.0) + label as f64,
                );
            }
        }
        let label = if classes == 2 { 2.0 * label as f64 - 1.0 } else { label as f64 };
        chunk.finish_row(Some(label), 1.0, Repeats::Add).unwrap();
    }
    chunk
}

#[test]
fn scores_and_weights_are_those_of_the_model() {
    let several = |spec: Spec| spec.set("multiclass", true).set("classes", json!(["a", "b", "c"]));
    let specs = [
        (Spec::new("ftrl"), 2),
        (Spec::new("ftrl").set("normalize", true), 2),
        (Spec::new("rda").set("rate", 0.3).set("l1", 0.001), 2),
        (Spec::new("sgd").set("loss", "squared").set("normalize", true), 4),
        (several(Spec::new("ftrl")), 3),
        (several(Spec::new("ftrl").set("normalize", true)), 3),
        (Spec::new("auto").set("loss", "logistic"), 2),
        (several(Spec::new("auto")), 3),
    ];
    for (spec, classes) in specs {
        let mut random = SplitMix64::new(3);
        let settings = spec.resolve().unwrap();
        let found =
            Found { classes: settings.classes().unwrap_or_default().to_vec(), ..Found::default() };
        let schema = InputSchema { found, ..InputSchema::default() };
        let mut trainer = Trainer::new(settings, LearnerOptions::default(), schema).unwrap();
        trainer.learn(&rows(&mut random, classes), &mut |_| {}).unwrap();
        // Where settings race, the leader is read; alone it is what `predict` reads.
        trainer.decide();
        let (online, chunk) = (trainer.online(), rows(&mut random, classes));
        let (mut scored, mut predicted) = (Vec::new(), Vec::new());
        online.score(&chunk, &mut scored);
        online.predict(&chunk, &mut predicted);
        assert_eq!(scored, predicted, "{spec:?}");
        let indices: Vec<u32> = (0..16).collect();
        let mut weights = Vec::new();
        online.weights_of(&indices, &mut weights);
        let frozen = online.freeze();
        let expected: Vec<f64> = indices
            .iter()
            .flat_map(|j| frozen.heads().iter().map(|head| head.weight(*j)))
            .collect();
        assert!(expected.iter().any(|w| *w != 0.0), "{spec:?}");
        for (w, e) in weights.iter().zip(&expected) {
            assert!(
                (w - e).abs() <= 1e-12 * e.abs().max(1e-300),
                "{spec:?}: {weights:?} {expected:?}"
            );
        }
        assert_eq!(weights.len(), expected.len());
        let mut laid_out = Vec::new();
        trainer.model().scorer().weights_of(&indices, &mut laid_out);
        assert_eq!(laid_out, expected, "{spec:?}");
    }
}
