//! A trainer as a file, from which it goes on bit for bit.

use std::path::Path;

use serde_json::json;

use super::Trainer;
use crate::container::{self, Container, Kind};
use crate::model::{push_names, read_common, read_names};
use crate::{Error, FormatError, LearnerOptions};

impl Trainer {
    /// Writes everything needed to go on, bit for bit.
    pub fn save_checkpoint(&self, path: &Path) -> Result<(), FormatError> {
        container::write(&self.to_container(), path, Kind::Checkpoint)
    }

    /// A checkpoint file's bytes, for those who keep them elsewhere.
    pub fn checkpoint(&self) -> Vec<u8> {
        self.to_container().to_bytes(Kind::Checkpoint)
    }

    fn to_container(&self) -> Container {
        let mut container = Container::new(json!({
            "settings": self.settings.to_json(),
            "precision": self.frame.precision.to_string(),
            "bias": self.frame.bias,
            "reading": self.reading,
            "progressive": self.progressive,
            "curve": self.curve,
            "inputs": self.inputs,
            "version": env!("CARGO_PKG_VERSION"),
        }));
        if let Some(baseline) = self.baseline() {
            container.about["constant"] = baseline.to_json();
        }
        // Absent where no file was learned, as in checkpoints of earlier versions.
        if !self.consumed.is_empty() {
            container.about["consumed"] = json!(self.consumed);
        }
        // Absent without class weights: the bytes of such checkpoints stay what they were.
        if let Some(class_weights) = self.learner.class_weights() {
            container.about["class_counts"] = class_weights.counts().into();
        }
        let mut state = Vec::new();
        self.online().save(&mut state);
        container.push("state", state);
        push_names(&mut container, self.names.iter());
        container
    }

    /// A learner that goes on where a checkpoint stopped.
    pub fn resume(path: &Path) -> Result<Self, Error> {
        Self::from_container(&container::read(path, Kind::Checkpoint)?, path)
    }

    /// The same from a checkpoint's bytes.
    pub fn from_checkpoint(bytes: &[u8]) -> Result<Self, Error> {
        let path = Path::new("the checkpoint");
        let container = Container::from_bytes(bytes, Kind::Checkpoint);
        Self::from_container(&container.map_err(|m| FormatError::new(path, m))?, path)
    }

    fn from_container(container: &Container, path: &Path) -> Result<Self, Error> {
        let bad = |message: String| Error::Format(FormatError::new(path, message));
        let (settings, precision, reading) = read_common(container).map_err(bad)?;
        let field = |name: &str| container.about[name].clone();
        let bias = field("bias").as_bool().unwrap_or(true);
        let frame = LearnerOptions { precision, bias, storage: reading.storage() };
        let mut trainer = Self::new(settings, frame, reading)?;
        let unreadable =
            |e: serde_json::Error| bad(format!("has a field that cannot be read: {e}"));
        trainer.progressive = serde_json::from_value(field("progressive")).map_err(unreadable)?;
        trainer.curve = serde_json::from_value(field("curve")).map_err(unreadable)?;
        trainer.inputs = serde_json::from_value(field("inputs")).map_err(unreadable)?;
        if let Some(consumed) = container.about.get("consumed") {
            trainer.consumed = serde_json::from_value(consumed.clone()).map_err(unreadable)?;
        }
        // Earlier versions kept no constant, and a constant of later rows alone would mislead. Sums that are not finite, of
        // losses that grew beyond all bounds, are not kept either.
        let kept = field("constant");
        trainer.baseline = trainer
            .baseline
            .take()
            .and_then(|mut baseline| baseline.restore(&kept).then_some(baseline));
        if let Some(class_weights) = trainer.learner.class_weights_mut() {
            let counts: Vec<f64> =
                serde_json::from_value(field("class_counts")).map_err(unreadable)?;
            class_weights
                .restore(&counts)
                .ok_or_else(|| bad("has counts of other classes than its settings".into()))?;
        }
        let mut state = container.section("state");
        let restored = trainer.learner.online_mut().restore(&mut state);
        if restored.is_none() || !state.is_empty() {
            return Err(bad("has a state that does not belong to its settings".into()));
        }
        let names = read_names(container);
        trainer.names = names.iter().map(|(slot, name)| (*slot, name.as_str())).collect();
        Ok(trainer)
    }
}
