//! Properties that every learner must keep.

use parsimon::rows::{Chunk, Repeats};
use parsimon::workspace::Head;
use parsimon::workspace::StateWriter;
use parsimon::{Error, InputSchema, LearnerOptions, Model, Spec, Trainer};

/// A learner without rows.
pub(crate) fn trainer(spec: Spec, options: LearnerOptions) -> Trainer {
    Trainer::new(spec.resolve().unwrap(), options, InputSchema::default()).unwrap()
}

/// Rows of a few features, with labels of two classes.
pub(crate) fn rows(count: u32) -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..count {
        chunk.push_feature(1 + i % 5, 0.5 + f64::from(i % 3));
        chunk.push_feature(6 + i % 2, 1.0);
        chunk.finish_row(Some(f64::from(i % 2) * 2.0 - 1.0), 1.0, Repeats::Refuse).unwrap();
    }
    chunk
}

/// Whether every number of a learner is finite.
pub(crate) fn is_finite(trainer: &Trainer) -> bool {
    let mut state = StateWriter::new();
    trainer.online().save(&mut state);
    state.is_finite()
}

/// Learns: an error, or a learner whose model can be read back.
pub(crate) fn learn(trainer: &mut Trainer, chunk: &Chunk) -> Result<(), Error> {
    trainer.learn(chunk, &mut |_| {})
}

/// What holds for every model that was read: it predicts without a panic, its weights are finite, and it is written as it was read.
pub(crate) fn check_model(model: &Model) {
    assert!(model.heads().iter().all(|head| head.bias().is_finite()));
    assert!(model.heads().iter().flat_map(Head::weights).all(|w| w.is_finite()));
    let chunk = rows(4);
    let mut margins = Vec::new();
    model.scorer().margins(&chunk, &mut margins);
    model.calibrate(&mut margins);
    assert_eq!(margins.len(), chunk.len() * model.outputs());
    let bytes = model.to_bytes();
    let again =
        Model::from_bytes(&bytes).unwrap_or_else(|e| panic!("written and not read back: {e}"));
    assert!(again.to_bytes() == bytes, "written, read and written differently");
}
