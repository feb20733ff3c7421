//! A trainer as a file. A resumed trainer continues bit for bit.

use std::path::Path;

use parsimon_core::workspace::{Coming, restore_within};
use parsimon_core::{StateErrorKind, StateWriter};
use parsimon_data::{Message, Remedy};
use parsimon_eval::Progressive;
use parsimon_files::memory::{self, amount};
use parsimon_files::{PreparedFile, Stamp, lock_folder_of};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Trainer;
use super::baseline::MOST_ROWS;
use crate::container::{self, Container, Kind};
use crate::error::{Error, FormatError};
use crate::model::{FeatureNames, encode_names, push_names, read_common};
use crate::options::{LearnerOptions, Storage};

/// Refuses to replace a file that another process has replaced.
pub fn check_stamp(path: &Path, stamp: Option<&Stamp>) -> Result<(), FormatError> {
    match stamp {
        Some(stamp) if Stamp::of(path) != *stamp => {
            let fact = "changed since it was read: another job has written it, and its rows would be lost, so nothing was written";
            let way = Remedy::Advice(
                "run the command again, which goes on from the file as it is now".into(),
            );
            Err(FormatError::new(path, Message::new(fact).or(way)))
        }
        _ => Ok(()),
    }
}

/// Gives a checkpoint its name unless another process has replaced the file since it had this stamp.
pub(super) fn commit_over(
    prepared: PreparedFile,
    path: &Path,
    stamp: Option<&Stamp>,
) -> Result<(), FormatError> {
    // Between the look and the name no other job may have its turn.
    let _lock = stamp.and_then(|_| lock_folder_of(path));
    check_stamp(path, stamp)?;
    Ok(prepared.commit()?)
}

impl Trainer {
    /// Writes a checkpoint, from which training continues bit for bit. A state with a number that is not finite is refused.
    pub fn save_checkpoint(&self, path: &Path) -> Result<(), FormatError> {
        Ok(self.prepare_checkpoint(path)?.commit()?)
    }

    /// As [`save_checkpoint`](Self::save_checkpoint), but the file has no name before it is committed.
    pub fn prepare_checkpoint(&self, path: &Path) -> Result<PreparedFile, FormatError> {
        let mut state = StateWriter::new();
        self.online().save(&mut state);
        let about = self.about();
        Self::check(&about, &state, path)?;
        let names = encode_names(self.names.iter());
        let container = to_container(about, state.as_bytes(), &names);
        container::prepare(&container, path, Kind::Checkpoint)
    }

    /// As [`save_checkpoint`](Trainer::save_checkpoint), unless another process has replaced the file since it had this stamp.
    pub fn save_checkpoint_over(
        &self,
        path: &Path,
        stamp: Option<&Stamp>,
    ) -> Result<(), FormatError> {
        check_stamp(path, stamp)?;
        commit_over(self.prepare_checkpoint(path)?, path, stamp)
    }

    /// The bytes of a checkpoint file.
    pub fn checkpoint(&self) -> Vec<u8> {
        let mut state = StateWriter::new();
        self.online().save(&mut state);
        let names = encode_names(self.names.iter());
        to_container(self.about(), state.as_bytes(), &names).to_bytes(Kind::Checkpoint)
    }

    /// [`Error::Diverged`] if a number of the learner or a weight is not finite. Learning notices it at the next row that has the
    /// feature; this looks at all of them, and takes as long as a checkpoint.
    ///
    /// ```
    /// use parsimon::rows::{Chunk, Repeats};
    /// use parsimon::{Error, InputSchema, LearnerOptions, Spec, Trainer};
    ///
    /// let settings = Spec::new("sgd").set("loss", "squared").set("rate", 1e300).resolve()?;
    /// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
    /// let mut chunk = Chunk::new();
    /// chunk.push_feature(1, 1e10);
    /// chunk.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
    /// trainer.learn(&chunk, &mut |_| {})?;
    /// assert!(matches!(trainer.check_finite(), Err(Error::Diverged { row: 1 })));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn check_finite(&self) -> Result<(), Error> {
        let mut state = StateWriter::new();
        self.online().save(&mut state);
        let is_finite = state.is_finite() && self.progressive.is_finite();
        match is_finite && self.online().freeze().is_finite() {
            true => Ok(()),
            false => Err(Error::Diverged { row: self.progressive.rows() }),
        }
    }

    /// Refuses a state that could not be read back.
    pub(super) fn check(
        about: &Value,
        state: &StateWriter,
        path: &Path,
    ) -> Result<(), FormatError> {
        let refuse = |why: &str| FormatError::new(path, format!("was not written: {why}"));
        if !state.is_finite() {
            return Err(refuse("state: a number is not finite"));
        }
        match serde_json::from_value::<Progressive>(about["progressive"].clone()) {
            Ok(_) => Ok(()),
            Err(_) => Err(refuse("progressive: the sum of losses is not finite")),
        }
    }

    /// The header.
    pub(super) fn about(&self) -> Value {
        let mut about = json!({
            "settings": self.settings.to_json(),
            "precision": self.frame.precision.to_string(),
            "bias": self.frame.bias,
            "reading": self.reading,
            "progressive": self.progressive,
            "curve": self.curve,
            "inputs": self.inputs,
            "consumed": self.consumed,
            "version": env!("CARGO_PKG_VERSION"),
        });
        if let Some(baseline) = self.baseline().filter(|baseline| baseline.is_finite()) {
            about["constant"] = baseline.to_json();
        }
        if let Some(share) = self.sampled {
            about["sample_negatives"] = share.into();
        }
        if let Some(model) = &self.began_with {
            about["began_with"] = model.as_str().into();
        }
        if let Some(class_weights) = self.learner.class_weights() {
            about["class_counts"] = class_weights.counts().into();
        }
        about
    }

    /// Continues from a checkpoint file.
    pub fn resume(path: &Path) -> Result<Self, Error> {
        Self::take(&parsimon_files::read_file(path).map_err(FormatError::from)?, path)
    }

    /// Continues from the bytes of a checkpoint.
    pub fn from_checkpoint(bytes: &[u8]) -> Result<Self, Error> {
        Self::take(bytes, Path::new("the checkpoint"))
    }

    fn take(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        Self::from_container(&container::parse(bytes, path, Kind::Checkpoint)?, path)
    }

    fn from_container(container: &Container<'_>, path: &Path) -> Result<Self, Error> {
        Self::restored(container)
            .map_err(|why| FormatError::new(path, why.after("cannot be used: ")).into())
    }

    fn restored(container: &Container<'_>) -> Result<Self, Message> {
        let (settings, precision, reading) = read_common(container)?;
        let field = |name: &str| container.about[name].clone();
        let bias = read_field(container, "bias")?;
        // Memory is allocated for the bytes in the file, not for the length that its header states.
        let storage = match reading.storage() {
            Storage::Slots(slots) => Storage::GrowingSlots(slots),
            storage => storage,
        };
        let frame = LearnerOptions { precision, bias, storage };
        let mut state = container.section("state");
        let least = settings.least_saved(frame, &reading.found);
        if (state.len() as u64) < least {
            let dimension = settings.dimension(&reading.found).unwrap_or_default();
            return Err(format!(
                "state: dimension {dimension} needs {least} bytes or more, and there are {}",
                state.len()
            )
            .into());
        }
        let began_with = field("began_with").as_str().map(str::to_owned);
        let built = match began_with {
            None => Self::new(settings, frame, reading),
            Some(model) => Self::before_model(settings, frame, reading, model),
        };
        let mut trainer = built.map_err(|e| format!("settings: {e}"))?;
        trainer.progressive = read_field(container, "progressive")?;
        if trainer.progressive.rows() > MOST_ROWS {
            return Err(
                format!("progressive: {} rows are too many", trainer.progressive.rows()).into()
            );
        }
        trainer.curve = read_field(container, "curve")?;
        trainer.inputs = read_field(container, "inputs")?;
        trainer.consumed = read_field(container, "consumed")?;
        trainer.sampled = read_field(container, "sample_negatives")?;
        if trainer.sampled.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            return Err("sample_negatives: the share must be > 0 and <= 1".into());
        }
        // A constant of later rows alone would mislead: a trainer that was saved without one continues without one. Sums that are
        // not finite are not saved.
        let kept = field("constant");
        trainer.baseline = trainer
            .baseline
            .take()
            .and_then(|mut baseline| baseline.restore(&kept).then_some(baseline));
        if let Some(class_weights) = trainer.learner.class_weights_mut() {
            let counts: Vec<f64> = read_field(container, "class_counts")?;
            class_weights
                .restore(&counts)
                .ok_or("class_counts: these are no counts of the classes of the settings")?;
        }
        // Saving the state takes several times as much as its arrays.
        let most = memory::left() / 8;
        let online = trainer.learner.online_mut();
        restore_within(most, || online.restore(&mut state)).map_err(|e| match e.kind() {
            StateErrorKind::TooLarge => {
                let budget = amount(memory::budget());
                Message::new(format!("state: {e}: the budget is {budget}"))
                    .or(Remedy::RaiseMemory(None))
            }
            _ => Message::new(format!("state: {e}")),
        })?;
        // A coordinate has eight bytes or more.
        trainer.learner.note_met(container.section("state").len() as u64 / 8);
        trainer.learner.reserve(Coming::default()).map_err(|e| e.to_string())?;
        if !state.is_empty() {
            return Err(format!("state: {} bytes are left over", state.len()).into());
        }
        trainer.names = FeatureNames::read(container)?.iter().collect();
        Ok(trainer)
    }
}

/// A checkpoint of these parts.
pub(super) fn to_container<'a>(
    about: Value,
    state: &'a [u8],
    names: &'a [Vec<u8>; 3],
) -> Container<'a> {
    let mut container = Container::new(about);
    container.push("state", state);
    push_names(&mut container, names);
    container
}

fn read_field<T: DeserializeOwned>(container: &Container<'_>, name: &str) -> Result<T, String> {
    serde_json::from_value(container.about[name].clone()).map_err(|e| format!("{name}: {e}"))
}
